package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.cli.output.CapturedConsole;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/** The name of a node, which a kubelet takes without blanks around it and in lower case. */
class NodeNameTest {

    @Command(name = "named")
    private static final class Named {

        @Mixin
        private NodeName node = new NodeName();
    }

    private final CapturedConsole console = new CapturedConsole(Path.of(""));

    private String name(String... arguments) {
        Named named = new Named();
        new CommandLine(named).parseArgs(arguments);
        return named.node.name(console.console());
    }

    @ParameterizedTest
    @CsvSource({
        "--node, Worker-1.Zone.EXAMPLE, worker-1.zone.example",
        "--node, WORKER-1, worker-1",
        "--node, ' Worker-1 ', worker-1",
        "--node, worker-1, worker-1",
    })
    void name_ofAnOption_isInLowerCase(String option, String given, String expected) {
        assertThat(name(option, given)).isEqualTo(expected);
    }

    @Test
    void name_ofTheEnvironment_isInLowerCase_andAnOptionWins() {
        console.with("NODE_NAME", "Worker-2");

        assertThat(name()).isEqualTo("worker-2");
        assertThat(name("--node", "Other")).isEqualTo("other");
    }

    @Test
    void name_notLegal_isRefusedAsItWasGiven() {
        assertThatThrownBy(() -> name("--node", "Worker_1"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("node name \"Worker_1\" is not a legal Kubernetes name");
    }
}
