package dev.podcache.cli.config;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The subcommand {@code config print}. */
@Command(
        name = "print",
        header = "Prints every setting of an agent with its value and its source.",
        mixinStandardHelpOptions = true,
        description = {
            "Takes the options of run that are settings of a node, and starts nothing. The source is the flag, the line of the file, or default. A"
                    + " hyphen stands for no value. The last line lists the fields of the file without effect here."
        },
        footer = {"", "Example:", "  podcache config print --config deploy/examples/kubelet-config.yaml --max-pods 50"})
final class ConfigPrintCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private AgentOptions agent = new AgentOptions();

    @Mixin
    private NodeOptions node = new NodeOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    ConfigPrintCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        List<EffectiveSettings.SettingLine> lines = node.effective(agent);
        int fields = width(lines, EffectiveSettings.SettingLine::field);
        int values = width(lines, EffectiveSettings.SettingLine::value);
        try (EventWriter events = EventWriter.to(console.out(), output.format)) {
            lines.forEach(line -> events.block(new ProgramEvent(
                    "setting",
                    Strings.padEnd(line.field(), fields, ' ') + "  " + Strings.padEnd(line.value(), values, ' ') + "  "
                            + line.source(),
                    ImmutableMap.of("field", line.field(), "value", line.value(), "source", line.source()))));
            node.file().reportIgnored(events);
            events.requireReader();
        }
        return 0;
    }

    private static int width(
            List<EffectiveSettings.SettingLine> lines, Function<EffectiveSettings.SettingLine, String> column) {
        return lines.stream().map(column).mapToInt(String::length).max().orElse(0);
    }
}
