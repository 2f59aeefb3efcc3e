package dev.podcache.embedded;

/** An open watch. Thread-safe. */
@FunctionalInterface
public interface ClusterWatch {

    /** Ends it without a word to its listener. Never blocks. Idempotent. */
    void close();
}
