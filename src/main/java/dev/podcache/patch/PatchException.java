package dev.podcache.patch;

/** Thrown if a patch cannot be applied. The message names fields and operations, never values, which may be secret. */
public final class PatchException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final Fault fault;

    private PatchException(String message, Fault fault) {
        super(message);
        this.fault = fault;
    }

    /** Why a patch cannot be applied. */
    public enum Fault {
        /** It is not a valid patch. */
        MALFORMED,
        /** It is a valid patch, but does not fit this object. */
        INAPPLICABLE,
        /**
         * It contradicts itself or has an unknown directive. API servers answer this with 500, as an error of their
         * own.
         */
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

    /** Returns why the patch cannot be applied. */
    public Fault fault() {
        return fault;
    }
}
