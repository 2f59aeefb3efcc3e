package dev.podcache.cli.output;

import org.slf4j.event.Level;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** The options {@code --output} and {@code --verbose}. */
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
                    "what is logged to standard error, in a kubelet's numbers: 1 to 3 is INFO, 4 or more is DEBUG with"
                            + " stack traces; -v alone is 4")
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
