package dev.podcache.cli.config;

/** A value that is not allowed for its field. The message names the place, the value and what is allowed. */
final class IllegalSettingException extends IllegalArgumentException {

    private final boolean ofFlag;

    IllegalSettingException(String message, boolean ofFlag) {
        super(message);
        this.ofFlag = ofFlag;
    }

    /** Returns whether the value came from the command line, not from a file. */
    boolean ofFlag() {
        return ofFlag;
    }
}
