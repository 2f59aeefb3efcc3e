package dev.podcache.apiserver.http;

/** Told of every request that is sent, on the event loop of its connection; must not block, and must not throw. */
public interface RequestObserver {

    /** Observes nothing. */
    RequestObserver NONE = new RequestObserver() {
        @Override
        public void sent(ServerRequest request) {}

        @Override
        public void answered(ServerRequest request, int status) {}
    };

    /** A request is sent for the first time; that it is sent again over another connection is not told. */
    void sent(ServerRequest request);

    /** The head of an answer came; a second one if the request was repeated with other credentials. */
    void answered(ServerRequest request, int status);
}
