package dev.podcache.patch;

/** A patch that cannot be applied. The message names fields and operations, never values: they may be secret. */
public final class PatchException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final Fault fault;

    private PatchException(String message, Fault fault) {
        super(message);
        this.fault = fault;
    }

    /** What is wrong. */
    public enum Fault {
        /** It is no patch at all. */
        MALFORMED,
        /** It is one, but this object does not go with it. */
        INAPPLICABLE,
        /** It contradicts itself or says what is never said, which API servers take for a mistake of their own. */
        UNFORESEEN
    }

    static PatchException malformed(String message) {
        return new PatchException(message, Fault.MALFORMED);
    }

    static PatchException inapplicable(String message) {
        return new PatchException(message, Fault.INAPPLICABLE);
    }

    static PatchException unforeseen(String message) {
        return new PatchException(message, Fault.UNFORESEEN);
    }

    /** What is wrong. */
    public Fault fault() {
        return fault;
    }
}
