package dev.podcache.cli.output;

import org.jspecify.annotations.Nullable;

/** Ends the command with exit code 1. The message tells the user what is wrong and how to correct it. */
public final class CommandException extends RuntimeException {

    public CommandException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
