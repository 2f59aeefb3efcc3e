package dev.podcache.cli.output;

import org.slf4j.event.Level;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** The options that every command has. */
public final class OutputOptions {

    private static final int DEBUG = 4;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            description = "text (the default) or json (one object a line)")
    public EventWriter.Format format = EventWriter.Format.TEXT;

    @Option(
            names = {"-v", "--v", "--verbose"},
            arity = "0..1",
            fallbackValue = "" + DEBUG,
            paramLabel = "N",
            description =
                    "log to standard error, by the numbers of a kubelet: from 1 at INFO level, from 4 (the default of"
                            + " -v without N) at DEBUG level, with stack traces")
    private int verbosity;

    /**
     * Returns the level to log at.
     *
     * @param usual the command's level without the option; INFO or above
     */
    public Level level(Level usual) {
        if (verbosity >= DEBUG) {
            return Level.DEBUG;
        }
        return verbosity > 0 ? Level.INFO : usual;
    }

    /** Returns whether the error of a command is to be printed with its stack trace. */
    public static boolean wantsStackTraces(ParseResult command) {
        return command.matchedOptionValue("--verbose", 0) >= DEBUG;
    }
}
