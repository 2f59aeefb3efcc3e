package dev.podcache.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.event.Level;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class OutputOptionsTest {

    @ParameterizedTest
    @CsvSource({
        "-o text, WARN, WARN",
        "--v=0, WARN, WARN",
        "--v=0, INFO, INFO",
        "--v=2, WARN, INFO",
        "--v 2, ERROR, INFO",
        "-v 3, INFO, INFO",
        "-v2, WARN, INFO",
        "-v=4, WARN, DEBUG",
        "--verbose=10, WARN, DEBUG",
        "-v, WARN, DEBUG",
        "-v -o json, WARN, DEBUG"
    })
    void level_ofTheKubeletsVerbosity(String line, Level usual, Level expected) {
        OutputOptions options = new OutputOptions();
        CommandLine command =
                new CommandLine(CommandSpec.create().addMixin("output", CommandSpec.forAnnotatedObject(options)));
        command.setCaseInsensitiveEnumValuesAllowed(true);

        command.parseArgs(line.split(" "));

        assertThat(options.level(usual)).isEqualTo(expected);
    }
}
