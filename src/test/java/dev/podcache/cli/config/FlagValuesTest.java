package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class FlagValuesTest {

    @Test
    void of_strategyAndDuration_areSpeltAsOnTheCommandLine() {
        CommandSpec agent = CommandSpec.forAnnotatedObject(new AgentOptions());
        CommandLine line = new CommandLine(CommandSpec.create().addMixin("agent", agent));
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.registerConverter(Duration.class, new GoDuration());
        line.parseArgs("--strategy=cache", "--for=90s");

        assertThat(FlagValues.of(line.getCommandSpec()))
                .containsEntry("strategy", "Cache")
                .containsEntry("for", "1m30s");
    }
}
