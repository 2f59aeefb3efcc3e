package dev.podcache.patch;

/** A patch that cannot be applied. The message names fields and operations, never values: they may be secret. */
public final class PatchException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final boolean malformed;

    private PatchException(String message, boolean malformed) {
        super(message);
        this.malformed = malformed;
    }

    static PatchException malformed(String message) {
        return new PatchException(message, true);
    }

    static PatchException inapplicable(String message) {
        return new PatchException(message, false);
    }

    /** Whether it is no patch at all; otherwise it is one, but this object does not go with it. */
    public boolean isMalformed() {
        return malformed;
    }
}
