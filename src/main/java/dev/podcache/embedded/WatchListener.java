package dev.podcache.embedded;

/** Told what a watch sees, by one thread at a time and in order. Must neither block nor throw. */
public interface WatchListener {

    /** Something happened. */
    void event(ClusterEvent event);

    /** The watch is over, by its timeout, after an ERROR, or because the cluster closed; nothing comes after this. */
    void ended();
}
