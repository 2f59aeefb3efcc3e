package dev.podcache.embedded;

/**
 * Told what reaches a server, before any fault strikes it. For tests that hold a client to what it asks. Called by the
 * server's threads, one call for each request; brief.
 */
public interface RequestObserver {

    /** Hears nothing. */
    RequestObserver NONE = new RequestObserver() {};

    /** A request has come. */
    default void requested(ApiRequest request) {}

    /** A watch was accepted. */
    default void opened(ApiRequest watch) {}

    /** A watch that was accepted is over, as far as the server knows. */
    default void closed(ApiRequest watch) {}
}
