package dev.podcache.embedded;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;

/**
 * A field selector. Supports the fields that a kube-apiserver supports: the name and namespace of every resource, and
 * further fields of some resources.
 */
record FieldSelector(ImmutableList<Term> terms) {

    static final FieldSelector NONE = new FieldSelector(ImmutableList.of());

    private static final JsonPointer NAME = JsonPointer.compile("/metadata/name");
    private static final JsonPointer UNSCHEDULABLE = JsonPointer.compile("/spec/unschedulable");
    private static final ImmutableSet<String> COMMON_FIELDS = ImmutableSet.of("metadata.name", "metadata.namespace");
    private static final ImmutableSet<String> POD_FIELDS = ImmutableSet.of(
            "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase");
    private static final ImmutableSet<String> EVENT_FIELDS = ImmutableSet.of(
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "reason",
            "type");

    private static final ImmutableMap<Resource, ImmutableSet<String>> FIELDS = ImmutableMap.of(
            Resource.PODS, POD_FIELDS,
            Resource.EVENTS, EVENT_FIELDS,
            Resource.SECRETS, ImmutableSet.of("type"),
            Resource.NODES, ImmutableSet.of("spec.unschedulable"),
            Resource.NAMESPACES, ImmutableSet.of("status.phase"));

    /** One condition: a field equals, or does not equal, a value. */
    record Term(JsonPointer pointer, String value, boolean equal) {
        boolean matches(JsonNode object) {
            String missing = pointer.equals(UNSCHEDULABLE) ? "false" : "";
            return object.at(pointer).asText(missing).equals(value) == equal;
        }
    }

    /**
     * Parses a field selector; an empty text has no conditions.
     *
     * @throws StatusException 400 if the selector is malformed or {@code resource} does not support a field of it
     */
    static FieldSelector parse(Resource resource, String selector) {
        ImmutableList.Builder<Term> terms = ImmutableList.builder();
        for (SelectorTerm term : SelectorTerm.parse("fieldSelector", selector)) {
            if (!term.comparesOneValue() || !selectable(resource, term.key())) {
                throw StatusException.badRequest("field label not supported: " + term.key());
            }
            JsonPointer pointer = JsonPointer.compile("/" + term.key().replace('.', '/'));
            terms.add(new Term(pointer, term.value(), term.operator() == SelectorTerm.Operator.EQUAL));
        }
        return new FieldSelector(terms.build());
    }

    private static boolean selectable(Resource resource, String field) {
        return COMMON_FIELDS.contains(field)
                || FIELDS.getOrDefault(resource, ImmutableSet.of()).contains(field);
    }

    /** Returns the name that an object must have, or "" if the selector does not require one. */
    String name() {
        for (Term term : terms) {
            if (term.equal() && term.pointer().equals(NAME)) {
                return term.value();
            }
        }
        return "";
    }

    /** Returns whether {@code object} meets all conditions. */
    boolean matches(JsonNode object) {
        for (Term term : terms) {
            if (!term.matches(object)) {
                return false;
            }
        }
        return true;
    }
}
