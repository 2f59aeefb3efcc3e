package dev.podcache.cli.config;

import dev.podcache.cli.output.Console;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
public final class ConfigCommand implements Runnable {

    @Spec
    private @Nullable CommandSpec spec;

    private ConfigCommand() {}

    /** Called without a subcommand. */
    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "the subcommand is missing: print or validate");
        }
    }

    /** Returns the command with its subcommands. */
    public static CommandLine create(Console console) {
        return new CommandLine(new ConfigCommand())
                .addSubcommand("print", new ConfigPrintCommand(console))
                .addSubcommand("validate", new ConfigValidateCommand(console));
    }
}
