package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.stream.Stream;

/** Selects the objects of a list or watch by namespace, field selector and label selector. Immutable. */
public final class Selection {

    private static final Selection EVERYTHING = new Selection("", FieldSelector.NONE, LabelSelector.NONE);

    private final String namespace;
    private final FieldSelector fields;
    private final LabelSelector labels;

    private Selection(String namespace, FieldSelector fields, LabelSelector labels) {
        this.namespace = namespace;
        this.fields = fields;
        this.labels = labels;
    }

    /** Returns a selection of all objects in all namespaces. */
    public static Selection everything() {
        return EVERYTHING;
    }

    /**
     * Returns this selection for a namespace, which replaces the previous one.
     *
     * @param newNamespace the namespace; empty for all namespaces
     */
    public Selection in(String newNamespace) {
        return new Selection(Objects.requireNonNull(newNamespace, "namespace"), fields, labels);
    }

    /**
     * Returns this selection with a field selector, which replaces the previous one.
     *
     * @param selector such as {@code spec.nodeName=worker-1,metadata.namespace!=kube-system}; empty for no condition
     * @throws StatusException 400 if {@code selector} is malformed or {@code resource} does not support a field of it
     */
    public Selection withFields(Resource resource, String selector) {
        return new Selection(namespace, FieldSelector.parse(resource, selector), labels);
    }

    /**
     * Returns this selection with a label selector, which replaces the previous one.
     *
     * @param selector conditions such as {@code app=web,tier!=test,owner,size in (s,m)};
     *     empty for no condition
     * @throws StatusException 400 if {@code selector} is malformed
     */
    public Selection withLabels(String selector) {
        return new Selection(namespace, fields, LabelSelector.parse(selector));
    }

    /** Returns the name that an object must have, or "" if the selection does not require one. */
    String name() {
        return fields.name();
    }

    /** Returns whether the selection has a field selector or a label selector. */
    boolean hasConditions() {
        return !fields.terms().isEmpty() || !labels.terms().isEmpty();
    }

    /** Returns those of the objects that are selected, in order. Does not look at objects of other namespaces and names. */
    Stream<ObjectNode> of(NavigableMap<ObjectKey, StoredObject> objects) {
        return inRange(objects).map(StoredObject::json).filter(this::matches);
    }

    private Stream<StoredObject> inRange(NavigableMap<ObjectKey, StoredObject> objects) {
        if (namespace.isEmpty()) {
            return objects.values().stream();
        }
        return name().isEmpty()
                ? objects.subMap(ObjectKey.of(namespace, ""), ObjectKey.of(namespace + '\0', "")).values().stream()
                : Stream.ofNullable(objects.get(ObjectKey.of(namespace, name())));
    }

    /** Returns whether the object is selected. */
    boolean matches(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        return (namespace.isEmpty()
                        || namespace.equals(metadata.path("namespace").asText()))
                && fields.matches(object)
                && labels.matches(metadata.path("labels"));
    }
}
