package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TestPodEphemeralContainersREST and TestValidatePodEphemeralContainersUpdate of upstream. */
@ExtendWith(NoLeaks.class)
class EphemeralContainersApiTest {

    private static final ObjectKey KEY = ObjectKey.of("shop", "web");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);

    @BeforeEach
    void create() {
        cluster.create(Pods.assigned("worker-1", "web").build());
    }

    @AfterEach
    void close() {
        cluster.close();
        timekeeper.close();
    }

    private static Map<String, Object> debugger(String name, String image) {
        return Map.of("name", name, "image", image);
    }

    private static ObjectNode patch(Object... ephemeral) {
        return Json.tree(Map.of("spec", Map.of("ephemeralContainers", List.of(ephemeral))));
    }

    private ObjectNode patched(PatchBody.PatchType type, Object... ephemeral) {
        return cluster.patch(
                Resource.PODS, KEY, ObjectPart.EPHEMERAL_CONTAINERS, new PatchBody(type, patch(ephemeral)));
    }

    private ObjectNode stored() {
        return cluster.get(Resource.PODS, KEY, "");
    }

    private static List<String> names(JsonNode pod) {
        return pod.at("/spec/ephemeralContainers").findValuesAsText("name");
    }

    private void assertRefused(String message, Object... ephemeral) {
        assertThatThrownBy(() -> patched(PatchBody.PatchType.MERGE, ephemeral))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(422))
                .hasMessage("Pod \"web\" is invalid: " + message);
    }

    @ParameterizedTest
    @EnumSource(
            value = PatchBody.PatchType.class,
            names = {"MERGE", "STRATEGIC"})
    void patch_addsOne_andTheNextGeneration(PatchBody.PatchType type) {
        long generation = stored().at("/metadata/generation").asLong();

        ObjectNode pod = patched(type, debugger("debug", "busybox"));

        assertThat(names(pod)).containsExactly("debug");
        assertThat(pod.at("/metadata/generation").asLong()).isEqualTo(generation + 1);
        assertThat(stored()).isEqualTo(pod);
    }

    @Test
    void strategicPatch_addsToThoseThatAreThere() {
        patched(PatchBody.PatchType.STRATEGIC, debugger("debug", "busybox"));

        assertThat(names(patched(PatchBody.PatchType.STRATEGIC, debugger("more", "busybox"))))
                .containsExactlyInAnyOrder("debug", "more");
    }

    @Test
    void update_changesNothingElse() {
        ObjectNode body = stored().deepCopy();
        ObjectNode before = stored();
        Json.object(body, "spec")
                .put("nodeName", "other")
                .set("ephemeralContainers", patch(debugger("debug", "b")).at("/spec/ephemeralContainers"));
        Json.object(body, "metadata").putObject("labels").put("app", "web");
        Json.object(body, "status").put("phase", "Failed");

        ObjectNode pod = cluster.update(Resource.PODS, KEY, ObjectPart.EPHEMERAL_CONTAINERS, body);

        assertThat(names(pod)).containsExactly("debug");
        assertThat(pod.at("/spec/nodeName")).isEqualTo(before.at("/spec/nodeName"));
        assertThat(pod.at("/metadata/labels").isMissingNode()).isTrue();
        assertThat(pod.at("/status")).isEqualTo(before.at("/status"));
    }

    @Test
    void existingOnes_mayNeitherGoNorChange() {
        patched(PatchBody.PatchType.MERGE, debugger("debug", "busybox"));

        assertRefused(
                "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"debug\" may not be removed\n",
                debugger("other", "busybox"));
        assertRefused(
                "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"debug\" may not be changed\n",
                debugger("debug", "other"));
        assertThat(names(stored())).containsExactly("debug");
    }

    @Test
    void names_areThereAndUnique_amongAllContainers() {
        assertRefused("spec.ephemeralContainers[0].name: Required value", Map.of("image", "busybox"));
        assertRefused("spec.ephemeralContainers[0].name: Duplicate value: \"main\"", debugger("main", "busybox"));
        assertRefused(
                "spec.ephemeralContainers[1].name: Duplicate value: \"debug\"",
                debugger("debug", "busybox"),
                debugger("debug", "other"));
    }

    @Test
    void mirrorPod_hasNone() {
        ObjectNode mirror = stored().deepCopy();
        Json.object(Json.object(mirror, "metadata"), "annotations").put("kubernetes.io/config.mirror", "hash");
        cluster.update(Resource.PODS, KEY, ObjectPart.OBJECT, mirror);

        assertRefused("[]: Forbidden: static pods do not support ephemeral containers", debugger("debug", "busybox"));
        assertThat(names(stored())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"name\": \"debug\"}", "\"debug\"", "\"\"", "1", "true"})
    void whatIsNoArray_isRefused(String value) throws Exception {
        ObjectNode pod = stored().deepCopy();
        Json.object(pod, "spec").set("ephemeralContainers", new ObjectMapper().readTree(value));
        PatchBody patch = new PatchBody(
                PatchBody.PatchType.MERGE,
                Json.tree(Map.of("spec", Map.of("ephemeralContainers", pod.at("/spec/ephemeralContainers")))));

        assertWrongType(400, () -> cluster.update(Resource.PODS, KEY, ObjectPart.EPHEMERAL_CONTAINERS, pod));
        assertWrongType(422, () -> cluster.patch(Resource.PODS, KEY, ObjectPart.EPHEMERAL_CONTAINERS, patch));
        assertThat(names(stored())).isEmpty();
    }

    private static void assertWrongType(int code, ThrowingCallable write) {
        assertThatThrownBy(write)
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining("ephemeralContainers");
    }

    @Test
    void update_null_isAsMissing() {
        ObjectNode pod = stored().deepCopy();
        Json.object(pod, "spec").putNull("ephemeralContainers");

        ObjectNode updated = cluster.update(Resource.PODS, KEY, ObjectPart.EPHEMERAL_CONTAINERS, pod);

        assertThat(updated.at("/spec/ephemeralContainers").isMissingNode()).isTrue();
    }

    @Test
    void update_ofAnOldVersion_conflicts() {
        ObjectNode old = stored();
        patched(PatchBody.PatchType.MERGE, debugger("debug", "busybox"));

        assertThatThrownBy(() -> cluster.update(Resource.PODS, KEY, ObjectPart.EPHEMERAL_CONTAINERS, old))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(409));
    }
}
