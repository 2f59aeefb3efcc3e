package dev.podcache.cli.config;

/** A value that the configuration cannot have. The message names the place, the value and what is allowed. */
final class IllegalSettingException extends IllegalArgumentException {

    private final boolean ofFlag;

    IllegalSettingException(String message, boolean ofFlag) {
        super(message);
        this.ofFlag = ofFlag;
    }

    /** Whether it came from the command line, rather than from a file. */
    boolean ofFlag() {
        return ofFlag;
    }
}
