package dev.podcache.embedded;

/**
 * Receives every request that arrives at the server, before faults are applied, so that a test can check the requests
 * of a client. The methods are called on the event loops of the server, also concurrently. They must neither block nor
 * throw.
 */
public interface RequestObserver {

    /** An observer that does nothing. */
    RequestObserver NONE = new RequestObserver() {};

    /** Called when a request has arrived. */
    default void requested(ApiRequest request) {}

    /** Called when the server has accepted a watch. */
    default void opened(ApiRequest watch) {}

    /** Called when an accepted watch has ended, whichever side ended it. */
    default void closed(ApiRequest watch) {}
}
