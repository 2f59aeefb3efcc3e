package dev.podcache.cli.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.podcache.cli.output.CommandException;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ModelMismatchException;
import dev.podcache.object.ModelTypes;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds the pods and pod templates among the documents of a manifest. Skips objects that have none, such as Services. */
final class PodTemplates {

    /** The path from an object to the spec of its pods. */
    private static final ImmutableMap<String, List<String>> PATHS = ImmutableMap.<String, List<String>>builder()
            .put("Pod", List.of("spec"))
            .put("PodTemplate", List.of("template", "spec"))
            .put("Deployment", List.of("spec", "template", "spec"))
            .put("StatefulSet", List.of("spec", "template", "spec"))
            .put("DaemonSet", List.of("spec", "template", "spec"))
            .put("ReplicaSet", List.of("spec", "template", "spec"))
            .put("ReplicationController", List.of("spec", "template", "spec"))
            .put("Job", List.of("spec", "template", "spec"))
            .put("CronJob", List.of("spec", "jobTemplate", "spec", "template", "spec"))
            .buildOrThrow();

    /** Also those that the kinds had before they came to theirs. */
    private static final ImmutableSet<String> BUILT_IN_GROUPS = ImmutableSet.of("", "apps", "batch", "extensions");

    private static final String LIST = "List";

    private final String defaultNamespace;
    private final ImmutableList.Builder<PodTemplate> found = ImmutableList.builder();

    private PodTemplates(String defaultNamespace) {
        this.defaultNamespace = defaultNamespace;
    }

    /**
     * Returns the pods and templates in their order, those in lists included.
     *
     * @param defaultNamespace the namespace of objects that name none
     * @throws CommandException if an object has no name, or a spec that the API would refuse; the message names object and
     *     field
     */
    static ImmutableList<PodTemplate> in(List<Map<?, ?>> documents, String defaultNamespace) {
        PodTemplates templates = new PodTemplates(defaultNamespace);
        documents.forEach(templates::addDocument);
        return templates.found.build();
    }

    /** Lists do not nest. */
    private void addDocument(Map<?, ?> document) {
        String kind = kind(document);
        if (kind.endsWith(LIST) && document.get("items") instanceof List<?> items) {
            String ofItems = kind.substring(0, kind.length() - LIST.length());
            for (@Nullable Object item : items) {
                if (item instanceof Map<?, ?> map) {
                    // the API server leaves it out of the items of a list of one kind, with the version
                    boolean isTyped = map.get("kind") != null;
                    add(isTyped ? kind(map) : ofItems, isTyped ? map : document, map);
                }
            }
        } else {
            add(kind, document, document);
        }
    }

    private static String kind(Map<?, ?> typed) {
        return String.valueOf(typed.get("kind"));
    }

    /** @param typed has the apiVersion */
    private void add(String kind, Map<?, ?> typed, Map<?, ?> object) {
        List<String> path = PATHS.get(kind);
        if (path != null && (isBuiltIn(typed) || part(object, path) instanceof Map<?, ?>)) {
            ObjectKey key = key(kind, object);
            found.add(new PodTemplate(kind, key, String.join(".", path), spec(kind + " " + key, object, path)));
        }
    }

    /** A kind of another group may have the same name, such as the Job of Volcano, and its pods elsewhere. */
    private static boolean isBuiltIn(Map<?, ?> typed) {
        String version = typed.get("apiVersion") instanceof String given ? given : "";
        int slash = version.indexOf('/');
        return BUILT_IN_GROUPS.contains(slash < 0 ? "" : version.substring(0, slash));
    }

    private ObjectKey key(String kind, Map<?, ?> object) {
        Map<?, ?> metadata = object.get("metadata") instanceof Map<?, ?> map ? map : Map.of();
        Object name = metadata.get("name") instanceof String own ? own : metadata.get("generateName");
        if (!(name instanceof String text) || text.isEmpty()) {
            throw new CommandException("a " + kind + " has no metadata.name: give it one", null);
        }
        Object namespace = metadata.get("namespace");
        try {
            // a name that is to be generated ends in a hyphen, which is no legal name
            String own = metadata.get("name") instanceof String ? text : text + "x";
            String in = namespace instanceof String given && !given.isEmpty() ? given : defaultNamespace;
            return ObjectKey.of(ObjectKey.validated(in, own).namespace(), text);
        } catch (IllegalArgumentException e) {
            throw new CommandException(kind + ": " + e.getMessage(), e);
        }
    }

    private static @Nullable Object part(Map<?, ?> object, List<String> path) {
        @Nullable Object part = object;
        for (String field : path) {
            part = part instanceof Map<?, ?> map ? map.get(field) : null;
        }
        return part;
    }

    private static PodSpec spec(String object, Map<?, ?> manifest, List<String> path) {
        String where = object + ": " + String.join(".", path);
        if (!(part(manifest, path) instanceof Map<?, ?> spec)) {
            throw new CommandException(where + " is missing: give it the spec of a pod", null);
        }
        JsonNode tree = ModelJson.treeOfValues(spec);
        try {
            PodSpec model = ModelJson.model(tree, PodSpec.class);
            ModelTypes.mistyped(tree, PodSpec.class).ifPresent(value -> {
                throw new CommandException(where + "." + Quoted.text(value.toString()), null);
            });
            return model;
        } catch (ModelMismatchException e) {
            String field = e.path();
            throw new CommandException(
                    where + Quoted.text(field.isEmpty() ? "" : "." + field)
                            + " has a value that the API does not accept there: compare it with `kubectl"
                            + " explain pod.spec`",
                    null);
        }
    }
}
