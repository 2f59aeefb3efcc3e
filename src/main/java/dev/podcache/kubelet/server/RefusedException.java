package dev.podcache.kubelet.server;

/** Ends a request with an HTTP status and a sentence for the user, such as {@code kubectl} prints. */
final class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;

    /**
     * Creates a refusal.
     *
     * @param message the body of the response; must contain nothing secret
     */
    RefusedException(int code, String message) {
        super(message);
        this.code = code;
    }

    int code() {
        return code;
    }
}
