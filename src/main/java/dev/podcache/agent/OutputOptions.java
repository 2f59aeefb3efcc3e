package dev.podcache.agent;

import picocli.CommandLine.Option;

/** Options that every command has. */
final class OutputOptions {

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            description = "text (for people, the default) or json (one object a line)")
    Account.Format format = Account.Format.TEXT;

    @Option(
            names = {"-v", "--v", "--verbose"},
            description = "logs what happens, with stack traces, to standard error")
    boolean verbose;
}
