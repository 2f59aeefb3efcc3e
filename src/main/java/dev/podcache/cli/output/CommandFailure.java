package dev.podcache.cli.output;

import org.jspecify.annotations.Nullable;

/** Ends the command with exit code 1. The message is for the user: it names what is wrong and what to do about it. */
public final class CommandFailure extends RuntimeException {

    public CommandFailure(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
