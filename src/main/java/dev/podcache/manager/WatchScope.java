package dev.podcache.manager;

/** What one watch covers under strategy {@link ChangeDetectionStrategy#WATCH}. */
public enum WatchScope {
    /**
     * One referenced object, selected by its name. Needs the verbs {@code list} and {@code watch} on the name only, and
     * receives nothing else.
     */
    OBJECT,
    /**
     * All referenced objects of one namespace. Needs the verbs {@code list} and {@code watch} on the whole namespace.
     * Objects that nobody refers to are received, but neither decoded nor kept. If the list or watch of a namespace is
     * refused (403), each of its objects is watched as under {@link #OBJECT}; {@code ObjectState.freshness} then says
     * so, and after ten minutes the next object that is watched anew tries the namespace again.
     */
    NAMESPACE
}
