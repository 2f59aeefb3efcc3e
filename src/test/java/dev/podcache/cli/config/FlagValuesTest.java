package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class FlagValuesTest {

    @Command(name = "test")
    private static final class WithFlags {
        @Mixin
        private AgentOptions agent = new AgentOptions();
    }

    @Test
    void of_strategyAndDuration_areSpeltAsOnTheCommandLine() {
        CommandLine line = new CommandLine(new WithFlags()).setCaseInsensitiveEnumValuesAllowed(true);
        line.registerConverter(Duration.class, new GoDuration());
        line.parseArgs("--strategy=cache", "--for=90s");

        assertThat(FlagValues.of(line.getCommandSpec()))
                .containsEntry("strategy", "Cache")
                .containsEntry("for", "1m30s");
    }
}
