package dev.podcache.patch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.Iterables;
import dev.podcache.testing.HostileJson;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/** Patches of any shape, of objects of any shape: a result, or a {@link PatchException} that quotes no value. */
@Slow
class HostilePatchProperties {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private static final byte[] POD =
            ("{\"metadata\":{\"name\":\"web\",\"finalizers\":[\"a\",\"b\"],\"labels\":{\"k\":\"" + NoLeaks.CANARY
                            + "\"}},\"spec\":{\"containers\":[{\"name\":\"main\",\"ports\":[{\"containerPort\":80}],\"env\":[{\"name\":\"A\",\"value\":\""
                            + NoLeaks.CANARY
                            + "\"}]},{\"name\":\"side\"}],\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\"}}]},"
                            + "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}")
                    .getBytes(UTF_8);

    private static final byte[] PATCH =
            ("{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a\"],\"$setElementOrder/finalizers\":[\"b\"],"
                            + "\"labels\":{\"$patch\":\"replace\",\"k\":\"" + NoLeaks.CANARY
                            + "\"}},\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"side\"},"
                            + "{\"name\":\"main\"},{\"name\":\"new\"}],\"containers\":[{\"name\":\"main\",\"env\":[{\"name\":\"A\",\"$patch\":\"delete\"}]},{\"name\":\"new\"}],"
                            + "\"volumes\":[{\"name\":\"v\",\"$retainKeys\":[\"name\",\"configMap\"],\"configMap\":{\"name\":\"c\"}}]},\"status\":null}")
                    .getBytes(UTF_8);

    private static final byte[] OPERATIONS = ("[{\"op\":\"test\",\"path\":\"/metadata/name\",\"value\":\"web\"},"
                    + "{\"op\":\"add\",\"path\":\"/metadata/finalizers/-\",\"value\":\"" + NoLeaks.CANARY + "\"},"
                    + "{\"op\":\"copy\",\"from\":\"/spec\",\"path\":\"/copy\"},{\"op\":\"move\",\"from\":\"/copy/volumes\",\"path\":\"/v\"},"
                    + "{\"op\":\"replace\",\"path\":\"/v/0/name\",\"value\":{}},{\"op\":\"remove\",\"path\":\"/spec/containers/1\"}]")
            .getBytes(UTF_8);

    private static final int MOST_UNPARSABLE = 1000;

    private final StrategicMergePatch strategic = StrategicMergePatch.of("Pod");

    @Property
    void strategic_mutatedPatch_isAppliedOrRefused(@ForAll int seed) {
        ObjectNode patch = mutated(ObjectNode.class, PATCH, seed);

        requireAppliedOrRefused(patch, () -> strategic.apply(pod(), patch));
    }

    @Property
    void strategic_mutatedObject_isPatchedOrRefused(@ForAll int seed) {
        ObjectNode object = mutated(ObjectNode.class, POD, seed);

        requireAppliedOrRefused(object, () -> strategic.apply(object, (ObjectNode) parsed(PATCH)));
        requireAppliedOrRefused(object, () -> strategic.diff(object, pod()));
        requireAppliedOrRefused(object, () -> strategic.diff(pod(), object));
    }

    @Property
    void json_mutatedOperations_areAppliedOrRefused(@ForAll int seed) {
        JsonNode patch = mutated(JsonNode.class, OPERATIONS, seed);

        requireAppliedOrRefused(patch, () -> JsonPatch.apply(pod(), patch));
    }

    @Example
    void json_pathThatRepeatsAValue_isNamed() {
        JsonNode patch = operation("{\"op\":\"test\",\"path\":\"/meta" + NoLeaks.CANARY + "\",\"value\":1}");

        requireAppliedOrRefused(patch, () -> JsonPatch.apply(pod(), patch));
    }

    @Property
    void merge_mutatedPatch_isApplied(@ForAll int seed) {
        JsonNode patch = mutated(JsonNode.class, PATCH, seed);

        requireAppliedOrRefused(patch, () -> MergePatch.apply(pod(), patch));
    }

    @Example
    void eachValueReplaced_isAppliedOrRefused() {
        int tried = 0;
        int parsed = 0;
        for (String value : HostileJson.VALUES) {
            for (byte[] json : HostileJson.withEachValueReplaced(PATCH, value)) {
                tried++;
                if (tree(json) instanceof ObjectNode patch) {
                    parsed++;
                    requireAppliedOrRefused(patch, () -> strategic.apply(pod(), patch));
                    requireAppliedOrRefused(patch, () -> MergePatch.apply(pod(), patch));
                }
            }
            for (byte[] json : HostileJson.withEachValueReplaced(OPERATIONS, value)) {
                tried++;
                JsonNode patch = tree(json);
                if (patch != null) {
                    parsed++;
                    requireAppliedOrRefused(patch, () -> JsonPatch.apply(pod(), patch));
                }
            }
            for (byte[] json : HostileJson.withEachValueReplaced(POD, value)) {
                tried++;
                if (tree(json) instanceof ObjectNode object) {
                    parsed++;
                    requireAppliedOrRefused(object, () -> strategic.apply(object, (ObjectNode) parsed(PATCH)));
                    requireAppliedOrRefused(object, () -> strategic.diff(object, pod()));
                }
            }
        }
        assertThat(100 * parsed / tried).as("percentage of what a parser takes").isGreaterThan(30);
    }

    @Example
    void json_rootRemovedOrMoved_isRefused() {
        assertThatThrownBy(() -> JsonPatch.apply(pod(), operation("{\"op\":\"remove\",\"path\":\"\"}")))
                .isInstanceOf(PatchException.class);
        assertThatThrownBy(() ->
                        JsonPatch.apply(pod(), operation("{\"op\":\"move\",\"from\":\"\",\"path\":\"/metadata/x\"}")))
                .isInstanceOf(PatchException.class);
    }

    @Example
    void json_pathOfAHundredThousandSteps_isRefused() {
        for (String op : new String[] {"add", "remove", "replace", "copy", "move", "test"}) {
            String path = "/a".repeat(100_000);
            JsonNode patch = operation(
                    "{\"op\":\"" + op + "\",\"path\":\"" + path + "\",\"from\":\"" + path + "\",\"value\":1}");

            assertThatThrownBy(() -> JsonPatch.apply(pod(), patch))
                    .as(op)
                    .isInstanceOf(PatchException.class)
                    .satisfies(refused -> assertThat(refused.getMessage()).hasSizeLessThan(500));
        }
    }

    @Example
    void json_copiesThatDoubleEachTime_areRefused() {
        ArrayNode patch = JsonNodeFactory.instance.arrayNode();
        for (int i = 0; i < 60; i++) {
            patch.addObject().put("op", "copy").put("from", "").put("path", "/copy" + i);
        }

        assertThatThrownBy(() -> JsonPatch.apply(pod(), patch))
                .isInstanceOf(PatchException.class)
                .hasMessageContaining("copies more than");
    }

    /** Most mutants are taken by no parser, and would try nothing here: the first one that is. */
    private static <T extends JsonNode> T mutated(Class<T> type, byte[] valid, long seed) {
        for (long next = seed; next < seed + MOST_UNPARSABLE; next++) {
            JsonNode tree = tree(HostileJson.mutated(valid, next));
            if (type.isInstance(tree)) {
                return type.cast(tree);
            }
        }
        throw new AssertionError(MOST_UNPARSABLE + " mutants in a row, from seed " + seed + ", are no " + type);
    }

    private interface Patching {
        JsonNode result();
    }

    /** A message quotes names and paths, and no value: a mutation can make a name of a value. */
    private static void requireAppliedOrRefused(JsonNode mutated, Patching patching) {
        try {
            assertThat(patching.result()).isNotNull();
        } catch (PatchException refused) {
            assertThat(refused.getMessage()).hasSizeLessThan(500);
            if (!namesTheCanary(mutated)) {
                assertThat(refused.getMessage()).doesNotContain(NoLeaks.CANARY);
            }
        }
    }

    private static boolean namesTheCanary(JsonNode mutated) {
        Deque<JsonNode> left = new ArrayDeque<>(List.of(mutated));
        while (!left.isEmpty()) {
            JsonNode node = left.pop();
            Iterables.addAll(left, node);
            for (Map.Entry<String, JsonNode> field : node.properties()) {
                boolean isPath = List.of("path", "from").contains(field.getKey());
                if ((field.getKey() + (isPath ? field.getValue().asText() : "")).contains(NoLeaks.CANARY)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static JsonNode operation(String json) {
        return parsed(("[" + json + "]").getBytes(UTF_8));
    }

    private static ObjectNode pod() {
        return (ObjectNode) parsed(POD);
    }

    private static JsonNode parsed(byte[] json) {
        JsonNode tree = tree(json);
        if (tree == null) {
            throw new AssertionError("no JSON");
        }
        return tree;
    }

    private static @Nullable JsonNode tree(byte[] json) {
        try {
            JsonNode tree = MAPPER.readTree(json);
            return tree == null || tree.isMissingNode() ? null : tree;
        } catch (IOException noJson) {
            return null;
        }
    }
}
