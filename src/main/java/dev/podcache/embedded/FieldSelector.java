package dev.podcache.embedded;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;

/**
 * Field selectors, for the fields that a kube-apiserver offers of the resource: names
 * everywhere, some more of pods and others.
 */
record FieldSelector(ImmutableList<Term> terms) {

    static final FieldSelector NONE = new FieldSelector(ImmutableList.of());

    private static final JsonPointer NAME = JsonPointer.compile("/metadata/name");
    private static final ImmutableSet<String> OF_EVERYTHING = ImmutableSet.of("metadata.name", "metadata.namespace");
    private static final ImmutableSet<String> OF_PODS = ImmutableSet.of(
            "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase");
    private static final ImmutableSet<String> OF_EVENTS = ImmutableSet.of(
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "reason",
            "type");

    /** One condition on one field. */
    record Term(JsonPointer pointer, String value, boolean equal) {
        boolean matches(JsonNode object) {
            return object.at(pointer).asText("").equals(value) == equal;
        }
    }

    static FieldSelector parse(Resource resource, String selector) {
        ImmutableList.Builder<Term> terms = ImmutableList.builder();
        for (SelectorTerm term : SelectorTerm.parse("fieldSelector", selector)) {
            if (!term.comparesValues() || !selectable(resource, term.key())) {
                throw StatusException.badRequest("field label not supported: " + term.key());
            }
            JsonPointer pointer = JsonPointer.compile("/" + term.key().replace('.', '/'));
            terms.add(new Term(pointer, term.value(), term.operator() == SelectorTerm.Operator.EQUAL));
        }
        return new FieldSelector(terms.build());
    }

    private static boolean selectable(Resource resource, String field) {
        return OF_EVERYTHING.contains(field)
                || switch (resource) {
                    case PODS -> OF_PODS.contains(field);
                    case EVENTS -> OF_EVENTS.contains(field);
                    case SECRETS -> field.equals("type");
                    case NODES -> field.equals("spec.unschedulable");
                    case NAMESPACES -> field.equals("status.phase");
                    case CONFIG_MAPS, SERVICES, LEASES -> false;
                };
    }

    /** The one name that it asks for, or "". */
    String name() {
        for (Term term : terms) {
            if (term.equal() && term.pointer().equals(NAME)) {
                return term.value();
            }
        }
        return "";
    }

    boolean matches(JsonNode object) {
        for (Term term : terms) {
            if (!term.matches(object)) {
                return false;
            }
        }
        return true;
    }
}
