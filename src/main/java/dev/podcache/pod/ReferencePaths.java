package dev.podcache.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Reference;
import dev.podcache.object.Usage;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the places in a pod's spec that {@link PodReferences} gets its references from. For people and tools: it copies
 * the spec, so it is much slower than {@code PodReferences}. Pure and thread-safe, provided that the spec is not modified
 * concurrently.
 */
public final class ReferencePaths {

    /*
     * There is one walk over a spec, and it reports names only, because registrations are frequent. Here it walks over a
     * copy in which the text of every field that could be a name of an object is replaced by the path of that field. So
     * it reports paths.
     */

    private static final List<String> NAME_FIELDS = List.of("name", "secretName");

    private final Map<String, NamedField> fields = new HashMap<>();
    private final String namespace;
    private final ImmutableList.Builder<ReferencePath> secrets = ImmutableList.builder();
    private final ImmutableList.Builder<ReferencePath> configMaps = ImmutableList.builder();

    /** The text of a field, and whether the object that has the field says {@code optional: true}. */
    private record NamedField(String text, boolean optional) {}

    private ReferencePaths(String namespace) {
        this.namespace = namespace;
    }

    /**
     * Returns every place in {@code spec} that names a Secret or a ConfigMap, Secrets first, in the order of the walk. An
     * object that is named several times has several places.
     *
     * @param namespace of the pod
     * @param root the path of the spec, such as {@code spec} or {@code spec.template.spec}
     * @return unmodifiable
     */
    public static List<ReferencePath> of(PodSpec spec, String namespace, String root) {
        ReferencePaths paths = new ReferencePaths(namespace);
        PodSpec labelled = paths.labelled(spec, root);
        PodSpecNames.forEach(
                labelled,
                (usage, field) -> paths.add(ObjectKind.SECRET, usage, field, paths.secrets),
                (usage, field) -> paths.add(ObjectKind.CONFIG_MAP, usage, field, paths.configMaps));
        return ImmutableList.<ReferencePath>builder()
                .addAll(paths.secrets.build())
                .addAll(paths.configMaps.build())
                .build();
    }

    private void add(
            ObjectKind<?> kind, Usage usage, @Nullable String path, ImmutableList.Builder<ReferencePath> found) {
        NamedField field = path == null ? null : fields.get(path);
        if (field != null && path != null) {
            Reference reference = new Reference(ObjectKey.of(namespace, field.text), usage);
            String parent = path.replaceFirst("\\.[^.]*$", "");
            found.add(new ReferencePath(kind, reference, parent, field.optional || usage == Usage.PULL));
        }
    }

    private PodSpec labelled(PodSpec spec, String root) {
        JsonNode tree = ModelJson.tree(spec);
        label(tree, root);
        return ModelJson.model(tree, PodSpec.class);
    }

    private void label(JsonNode node, String path) {
        if (node instanceof ObjectNode object) {
            object.properties().forEach(field -> label(field.getValue(), path + "." + field.getKey()));
            NAME_FIELDS.forEach(name -> labelName(object, name, path + "." + name));
        } else {
            int index = 0;
            for (JsonNode element : node) {
                label(element, path + "[" + index + "]");
                index++;
            }
        }
    }

    private void labelName(ObjectNode object, String name, String path) {
        String text = object.path(name).asText("");
        if (object.path(name).isTextual() && !text.isEmpty()) {
            fields.put(path, new NamedField(text, object.path("optional").asBoolean(false)));
            object.put(name, path);
        }
    }
}
