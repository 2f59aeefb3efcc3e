package dev.podcache.cli.output;

import picocli.CommandLine.Option;

/** The options that every command has. */
public final class OutputOptions {

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            description = "text (the default) or json (one object a line)")
    public EventWriter.Format format = EventWriter.Format.TEXT;

    @Option(
            names = {"-v", "--v", "--verbose"},
            description = "log at DEBUG level to standard error, with stack traces")
    public boolean verbose;
}
