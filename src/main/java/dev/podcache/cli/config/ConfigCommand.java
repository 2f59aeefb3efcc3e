package dev.podcache.cli.config;

import dev.podcache.cli.output.Console;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The subcommand {@code config}, which has subcommands of its own. */
@Command(
        name = "config",
        header = "Shows or checks the configuration of an agent.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  podcache config print --config deploy/examples/kubelet-config.yaml --max-pods 50",
            "  podcache config validate -f deploy/examples/kubelet-config.yaml"
        })
public record ConfigCommand() {

    /** Returns the command with its subcommands. */
    public static CommandLine create(Console console) {
        return new CommandLine(new ConfigCommand())
                .addSubcommand("print", new ConfigPrintCommand(console))
                .addSubcommand("validate", new ConfigValidateCommand(console));
    }
}
