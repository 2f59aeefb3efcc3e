package dev.podcache.embedded;

/**
 * Receives every request that reaches the server, before any fault is applied to it, so that a test can check what a
 * client asks for. The methods run on the server's event loops, several at once; they must neither block nor throw.
 */
public interface RequestObserver {

    /** Ignores everything. */
    RequestObserver NONE = new RequestObserver() {};

    /** Receives a request that has arrived. */
    default void requested(ApiRequest request) {}

    /** Receives a watch that the server has accepted. */
    default void opened(ApiRequest watch) {}

    /** Receives a watch that was accepted and has ended, by either side. */
    default void closed(ApiRequest watch) {}
}
