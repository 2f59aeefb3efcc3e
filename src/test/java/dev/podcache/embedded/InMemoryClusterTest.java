package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InMemoryClusterTest extends InMemoryClusterFixture {

    @Test
    void create_secret_fillsInTheSystemsMetadata() {
        time.advance(Duration.ofMillis(1500));

        Secret created = cluster.create(secret("a"));

        assertThat(created.getMetadata().getUid()).isNotEmpty();
        assertThat(created.getMetadata().getCreationTimestamp()).isEqualTo("2026-01-01T00:00:01Z");
        assertThat(created.getMetadata().getResourceVersion()).isEqualTo(cluster.resourceVersion());
        assertThat(created.getType()).isEqualTo("Opaque");
    }

    @Test
    void create_secretWithStringData_storesItEncoded() {
        Secret created = cluster.create(new SecretBuilder(secret("a"))
                .addToStringData("plain", "h\u00e9")
                .build());

        assertThat(created.getData()).containsEntry("plain", "aMOp");
        assertThat(created.getStringData()).isNullOrEmpty();
    }

    @Test
    void create_existingName_isRefused() {
        cluster.create(secret("a"));

        assertRefused(() -> cluster.create(secret("b")), 409, "AlreadyExists", "secrets \"db\" already exists");
    }

    @Test
    void create_withResourceVersion_isRefused() {
        Secret old = cluster.create(secret("a"));
        cluster.delete(old);

        assertRefused(() -> cluster.create(old), 500, "", "resourceVersion should not be set on objects to be created");
    }

    @Test
    void create_generateName_makesOneUp() {
        Secret anonymous = new SecretBuilder(secret("a")).build();
        anonymous.getMetadata().setName(null);
        anonymous.getMetadata().setGenerateName("db-");

        assertThat(cluster.create(anonymous).getMetadata().getName()).matches("db-[b-z2-9]{5}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"db.", "DB-", "-"})
    void create_illegalGenerateName_isRefused(String prefix) {
        Secret anonymous = secret("a");
        anonymous.getMetadata().setName(null);
        anonymous.getMetadata().setGenerateName(prefix);

        assertThatThrownBy(() -> cluster.create(anonymous))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(422))
                .hasMessageContaining("metadata.generateName: Invalid value: \"" + prefix + "\"");
    }

    @Test
    void create_illegalName_isRefused() {
        Secret illegal = secret("a");
        illegal.getMetadata().setName("DB_1");

        assertThatThrownBy(() -> cluster.create(illegal))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(422))
                .hasMessageContaining("DB_1");
    }

    @Test
    void create_inAMissingNamespace_createsIt() {
        cluster.create(secret("a"));

        assertThat(cluster.get(Namespace.class, "", "shop").getStatus().getPhase())
                .isEqualTo("Active");
    }

    @Test
    void create_lease_keepsMicroseconds() {
        ZonedDateTime renewed = ZonedDateTime.of(2026, 1, 2, 3, 4, 5, 678_901_000, ZoneOffset.UTC);
        cluster.create(new LeaseBuilder()
                .withNewMetadata()
                .withNamespace("kube-node-lease")
                .withName("worker-1")
                .endMetadata()
                .withNewSpec()
                .withRenewTime(renewed)
                .endSpec()
                .build());

        Lease lease = cluster.get(Lease.class, "kube-node-lease", "worker-1");

        assertThat(lease.getSpec().getRenewTime().toInstant()).isEqualTo(renewed.toInstant());
    }

    @Test
    void get_absent_isRefusedAsNotFound() {
        assertRefused(() -> cluster.get(Secret.class, "shop", "db"), 404, "NotFound", "secrets \"db\" not found");
    }

    @Test
    void create_podWithStatus_beginsPending() {
        Pod created = cluster.create(new PodBuilder(pod(""))
                .withNewStatus()
                .withPhase("Running")
                .endStatus()
                .build());

        assertThat(created.getStatus().getPhase()).isEqualTo("Pending");
        assertThat(created.getMetadata().getGeneration()).isEqualTo(1);
    }

    @Test
    void delete_podOnANode_isOnlyMarked() {
        Pod created = cluster.create(pod("worker-1"));

        cluster.delete(created);

        Pod marked = cluster.get(Pod.class, "shop", "web");
        assertThat(marked.getMetadata().getDeletionTimestamp()).isEqualTo("2026-01-01T00:00:30Z");
        assertThat(marked.getMetadata().getDeletionGracePeriodSeconds()).isEqualTo(30);
    }

    @Test
    void delete_podOnANode_raisesTheGenerationOnce() {
        Pod created = cluster.create(pod("worker-1"));

        cluster.delete(created);
        cluster.delete(Resource.PODS, ObjectKey.of("shop", "web"), new DeleteOptions(5L, null, null));

        Pod marked = cluster.get(Pod.class, "shop", "web");
        assertThat(marked.getMetadata().getDeletionGracePeriodSeconds()).isEqualTo(5);
        assertThat(marked.getMetadata().getGeneration()).isEqualTo(2);
    }

    @Test
    void delete_markedPodAgain_changesNothing() {
        Pod created = cluster.create(pod("worker-1"));
        cluster.delete(created);
        String before = cluster.resourceVersion();

        cluster.delete(created);

        assertThat(cluster.resourceVersion()).isEqualTo(before);
    }

    @Test
    void deleteNow_podOnANode_removesIt() {
        Pod created = cluster.create(pod("worker-1"));

        cluster.deleteNow(created);

        assertRefused(() -> cluster.get(Pod.class, "shop", "web"), 404, "NotFound", "pods \"web\" not found");
    }

    @Test
    void delete_podWithoutANode_removesIt() {
        cluster.delete(cluster.create(pod("")));

        assertRefused(() -> cluster.get(Pod.class, "shop", "web"), 404, "NotFound", "pods \"web\" not found");
    }

    @Test
    void delete_otherUid_conflicts() {
        cluster.create(secret("a"));

        assertThatThrownBy(() -> cluster.delete(Resource.SECRETS, KEY, new DeleteOptions(null, "another", null)))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(409))
                .hasMessageContaining("the UID in the precondition (another)");
    }

    @Test
    void delete_namespace_takesItsContents() {
        cluster.create(secret("a"));

        cluster.delete(cluster.get(Namespace.class, "", "shop"));

        assertThat(cluster.list(Resource.SECRETS, Selection.everything(), "").items())
                .isEmpty();
    }

    @Test
    void list_podsOfANode_areSelectedByTheField() {
        cluster.create(pod("worker-1"));
        Pod other = pod("worker-2");
        other.getMetadata().setName("other");
        cluster.create(other);

        ObjectList list = cluster.list(
                Resource.PODS, Selection.everything().withFields(Resource.PODS, "spec.nodeName=worker-1"), "");

        assertThat(list.items())
                .singleElement()
                .satisfies(pod -> assertThat(pod.at("/metadata/name").asText()).isEqualTo("web"));
    }

    @Test
    void list_byLabels_obeysEqualityInequalityAndExistence() {
        Secret labelled = secret("a");
        labelled.getMetadata().setLabels(Map.of("app", "shop", "tier", "data"));
        cluster.create(labelled);

        assertThat(selectedByLabels("app=shop,tier!=web,tier")).isEqualTo(1);
        assertThat(selectedByLabels("app==shop,owner!=me")).isEqualTo(1);
        assertThat(selectedByLabels("app!=shop")).isZero();
        assertThat(selectedByLabels("owner")).isZero();
    }

    private int selectedByLabels(String selector) {
        return cluster.list(Resource.SECRETS, Selection.everything().withLabels(selector), "")
                .items()
                .size();
    }

    @Test
    void get_tooNewAVersion_isATimeoutThatSaysSo() {
        assertRefused(
                () -> cluster.get(Resource.SECRETS, KEY, "999"),
                504,
                "Timeout",
                "Timeout: Too large resource version: 999, current: " + cluster.resourceVersion());
    }

    @Test
    void holdWatchCache_readsOfVersionZero_seeThePast() {
        cluster.create(secret("a"));
        String before = cluster.resourceVersion();
        cluster.holdWatchCache();
        cluster.update(secret("b"));

        assertThat(value(cluster.get(Resource.SECRETS, KEY, "0"))).isEqualTo("YQ==");
        assertThat(cluster.list(Resource.SECRETS, Selection.everything(), "0").resourceVersion())
                .isEqualTo(before);
        assertThat(value(cluster.get(Resource.SECRETS, KEY, ""))).isEqualTo("Yg==");
        cluster.releaseWatchCache();
        assertThat(value(cluster.get(Resource.SECRETS, KEY, "0"))).isEqualTo("Yg==");
    }

    @Test
    void alternateWithStalerServer_everyOtherReadOfVersionZero_goesBackByOneChange() {
        cluster.create(secret("a"));
        cluster.update(secret("b"));
        cluster.update(secret("a"));
        cluster.alternateWithStalerServer(true);

        List<String> read = Stream.generate(() -> value(cluster.get(Resource.SECRETS, KEY, "0")))
                .limit(4)
                .toList();

        assertThat(read).containsExactly("Yg==", "YQ==", "Yg==", "YQ==");
        assertThat(value(cluster.get(Resource.SECRETS, KEY, ""))).isEqualTo("YQ==");
        cluster.alternateWithStalerServer(false);
        assertThat(value(cluster.get(Resource.SECRETS, KEY, "0"))).isEqualTo("YQ==");
    }

    @Test
    void alternateWithStalerServer_objectThatIsNew_isNotThereYet() {
        cluster.create(secret("a"));
        cluster.alternateWithStalerServer(true);

        assertThatThrownBy(() -> cluster.get(Resource.SECRETS, KEY, "0")).isInstanceOf(StatusException.class);
        assertThat(value(cluster.get(Resource.SECRETS, KEY, "0"))).isEqualTo("YQ==");
    }

    @Test
    void requests_anyOutcome_areCounted() {
        cluster.create(secret("a"));
        assertThatThrownBy(() -> cluster.create(secret("a"))).isInstanceOf(StatusException.class);
        cluster.get(Secret.class, "shop", "db");

        assertThat(cluster.requests().of(Verb.CREATE, Resource.SECRETS)).isEqualTo(2);
        assertThat(cluster.requests().snapshot()).containsOnlyKeys("create secrets", "get secrets");
    }

    @Test
    void of_unknownModel_isRefused() {
        assertThatThrownBy(() -> Resource.of(Deployment.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("apps.Deployment")
                .hasMessageContaining("serve(ObjectKind.of(Deployment.class))");
        assertThat(Resource.of(ConfigMap.class)).isEqualTo(Resource.CONFIG_MAPS);
    }

    private static Pod pod(String node) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web")
                .endMetadata()
                .withNewSpec()
                .withNodeName(node.isEmpty() ? null : node)
                .endSpec()
                .build();
    }
}
