package dev.podcache.embedded;

/** An open watch of an {@link InMemoryCluster}. Thread-safe. */
@FunctionalInterface
public interface ClusterWatch {

    /** Closes the watch without calling {@link WatchListener#ended()}. Never blocks. Idempotent. */
    void close();
}
