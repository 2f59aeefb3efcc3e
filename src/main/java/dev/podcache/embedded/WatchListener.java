package dev.podcache.embedded;

/** Receives the events of a watch in order, one call at a time. Must neither block nor throw. */
public interface WatchListener {

    /** Called for each event. */
    void event(ClusterEvent event);

    /**
     * Called when the watch has ended: by its timeout, after an ERROR, or because the cluster was closed. No call
     * follows.
     */
    void ended();
}
