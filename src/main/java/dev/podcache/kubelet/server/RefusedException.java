package dev.podcache.kubelet.server;

/** Ends a request with an HTTP status and a sentence for the user, such as {@code kubectl} prints. */
final class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;
    private final String reason;

    /**
     * Creates a refusal.
     *
     * @param message the body of the response; must contain nothing secret
     */
    RefusedException(int code, String message) {
        super(message);
        this.code = code;
        this.reason = message;
    }

    /** Returns the body of the response. */
    String reason() {
        return reason;
    }

    int code() {
        return code;
    }
}
