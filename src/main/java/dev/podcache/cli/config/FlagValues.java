package dev.podcache.cli.config;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Shows the flags of a command with their values, for {@code /flagz}. No flag has a secret as its value. */
public final class FlagValues {

    private FlagValues() {}

    /** Returns the value of each flag that has one, given or by default, by its longest name without hyphens. */
    public static Map<String, String> of(CommandSpec command) {
        Map<String, String> values = new TreeMap<>();
        for (OptionSpec option : command.options()) {
            Object value = option.getValue();
            if (value != null && !option.usageHelp() && !option.versionHelp()) {
                values.put(option.longestName().replaceFirst("^-+", ""), text(value));
            }
        }
        return values;
    }

    private static String text(Object value) {
        if (value instanceof ChangeDetectionStrategy strategy) {
            return StrategyNames.of(strategy);
        }
        return value instanceof Duration duration ? Durations.text(duration) : value.toString();
    }
}
