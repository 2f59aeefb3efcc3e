package dev.podcache.patch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Making and applying a patch belong together. */
class StrategicMergePatchProperties {

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private final StrategicMergePatch patches = StrategicMergePatch.of("Pod");

    @Property
    void diffThenApply_anyTwoPods_leadsFromOneToTheOther(
            @ForAll("pods") ObjectNode original, @ForAll("pods") ObjectNode modified) {
        ObjectNode patch = patches.diff(original, modified);

        assertThat(patches.apply(original, patch)).as("by %s", patch).isEqualTo(modified);
    }

    @Property
    void apply_theSamePatchTwice_changesNothingMore(
            @ForAll("pods") ObjectNode original, @ForAll("pods") ObjectNode modified) {
        ObjectNode patch = patches.diff(original, modified);
        ObjectNode once = patches.apply(original, patch);

        assertThat(patches.apply(once, patch)).isEqualTo(once);
    }

    @Property
    void apply_toAPodThatSomebodyElseLabelled_keepsTheLabel(
            @ForAll("pods") ObjectNode original, @ForAll("pods") ObjectNode modified) {
        ObjectNode labelled = original.deepCopy();
        labelled.withObject("/metadata").withObject("/labels").put("theirs", "yes");

        ObjectNode result = patches.apply(labelled, patches.diff(original, modified));

        assertThat(result.at("/metadata/labels/theirs").asText()).isEqualTo("yes");
    }

    @Provide
    Arbitrary<ObjectNode> pods() {
        Arbitrary<ArrayNode> values = Arbitraries.of("a", "b", "c", "d")
                .list()
                .uniqueElements()
                .ofMaxSize(4)
                .map(list -> {
                    ArrayNode array = JSON.arrayNode();
                    list.forEach(array::add);
                    return array;
                });
        Arbitrary<ArrayNode> conditions = elements("type", scalars());
        Arbitrary<ArrayNode> containers = elements(
                "name",
                Combinators.combine(elements("name", scalars()), scalars()).as((env, fields) -> {
                    ObjectNode container = fields.deepCopy();
                    container.set("env", env);
                    return container;
                }));
        Arbitrary<ArrayNode> volumes = elements("name", scalars());
        return Combinators.combine(values, conditions, containers, volumes).as((finalizers, cs, ctrs, vols) -> {
            ObjectNode pod = JSON.objectNode();
            pod.putObject("metadata").putObject("labels").put("mine", "yes");
            pod.withObject("/metadata").set("finalizers", finalizers);
            pod.putObject("spec").set("containers", ctrs);
            pod.withObject("/spec").set("volumes", vols);
            pod.putObject("status").set("conditions", cs);
            return pod;
        });
    }

    private static Arbitrary<ObjectNode> scalars() {
        return Arbitraries.maps(
                        Arbitraries.of("p", "q", "r"), Arbitraries.integers().between(0, 2))
                .map(StrategicMergePatchProperties::object);
    }

    private static ObjectNode object(Map<String, Integer> fields) {
        ObjectNode object = JSON.objectNode();
        fields.forEach(object::put);
        return object;
    }

    private static Arbitrary<ArrayNode> elements(String key, Arbitrary<ObjectNode> contents) {
        Arbitrary<List<ObjectNode>> list = Combinators.combine(Arbitraries.of("A", "B", "C", "D"), contents)
                .as((name, content) -> content.deepCopy().put(key, name))
                .list()
                .uniqueElements(element -> element.get(key))
                .ofMaxSize(4);
        return list.map(objects -> {
            ArrayNode array = JSON.arrayNode();
            objects.forEach(array::add);
            return array;
        });
    }
}
