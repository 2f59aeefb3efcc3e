package dev.podcache.apiserver.fabric8;

import dev.podcache.object.ObjectKind;

/**
 * The objects to list and watch. Keeps its parts, not its texts, because there is one for each watch.
 *
 * @param namespace empty for all namespaces, or for a cluster-scoped kind
 * @param condition the start of the field selector, such as {@code spec.nodeName=}; empty for all objects
 * @param value the rest of the field selector, such as a name
 */
record ObjectSelection(ObjectKind<?> kind, String namespace, String condition, String value) {

    private static final String NAME = "metadata.name=";

    /** Returns the selection of one object. */
    static ObjectSelection byName(ObjectKind<?> kind, String namespace, String name) {
        return new ObjectSelection(kind, namespace, NAME, name);
    }

    /**
     * Returns the selection of the objects that match a field selector.
     *
     * @param fieldSelector such as {@code spec.nodeName=worker-1}; empty for all objects
     */
    static ObjectSelection of(ObjectKind<?> kind, String namespace, String fieldSelector) {
        int value = fieldSelector.indexOf('=') + 1;
        return new ObjectSelection(kind, namespace, fieldSelector.substring(0, value), fieldSelector.substring(value));
    }

    boolean isByName() {
        return condition.equals(NAME);
    }

    /** Returns the path of the collection and the start of its query, to which parameters can be appended. */
    String path() {
        String selector = fieldSelector();
        return kind.collectionPath(namespace)
                + (selector.isEmpty() ? "?" : "?fieldSelector=" + Fabric8ListerWatcher.encoded(selector) + "&");
    }

    private String fieldSelector() {
        return condition + value;
    }

    @Override
    public String toString() {
        String selector = fieldSelector();
        return kind.plural()
                + (namespace.isEmpty() ? "" : " in " + namespace)
                + (selector.isEmpty() ? "" : " with " + selector);
    }
}
