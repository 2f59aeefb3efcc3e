package dev.podcache.cli.output;

import picocli.CommandLine.Option;

/** Options that every command has. */
public final class OutputOptions {

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            description = "text (for people, the default) or json (one object a line)")
    public Account.Format format = Account.Format.TEXT;

    @Option(
            names = {"-v", "--v", "--verbose"},
            description = "logs what happens, with stack traces, to standard error")
    public boolean verbose;
}
