package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Objects;

/**
 * Which objects of a resource a list or a watch is about: a namespace, a field selector, a label selector. Immutable.
 */
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

    /** All objects of all namespaces. */
    public static Selection everything() {
        return EVERYTHING;
    }

    /**
     * The same in one namespace.
     *
     * @param newNamespace empty for all of them
     */
    public Selection in(String newNamespace) {
        return new Selection(Objects.requireNonNull(newNamespace, "namespace"), fields, labels);
    }

    /**
     * The same, reduced to what has these fields.
     *
     * @param selector such as {@code spec.nodeName=worker-1,metadata.namespace!=kube-system}; empty for no condition
     * @throws StatusException 400 for a field that {@code resource} cannot be selected by, or a
     *     selector that cannot be read
     */
    public Selection withFields(Resource resource, String selector) {
        return new Selection(namespace, FieldSelector.parse(resource, selector), labels);
    }

    /**
     * The same, reduced to what has these labels.
     *
     * @param selector equalities, inequalities and existence, such as {@code app=web,tier!=test,owner}; empty for no
     *     condition
     * @throws StatusException 400 if it cannot be read; set-based selectors are not understood
     */
    public Selection withLabels(String selector) {
        return new Selection(namespace, fields, LabelSelector.parse(selector));
    }

    /** The one name that it asks for, or "". */
    String name() {
        return fields.name();
    }

    boolean matches(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        return (namespace.isEmpty()
                        || namespace.equals(metadata.path("namespace").asText()))
                && fields.matches(object)
                && labels.matches(metadata.path("labels"));
    }
}
