package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The cases of TestParseEnv of upstream. A shell reads the same, except for a comment right after the closing quote. */
class EnvFileTest {

    @TempDir
    private Path folder;

    static Stream<Arguments> values() {
        return Stream.of(
                Arguments.of("leading whitespace", "  A='1'\n\t\tB='2'\nC='3'\n", "B", "2"),
                Arguments.of("blank lines and comments", "# first\n\nA='1'\n   # second\n \t\nB='2'\n", "B", "2"),
                Arguments.of("several comments", "# one\n\n# two\nA='1'\n\n# three\nB='2'\n", "B", "2"),
                Arguments.of("a hash in a value", "A='x#y'\nB='2'\n", "A", "x#y"),
                Arguments.of("a comment after a value", "A='1'\nB='2' # why\n", "B", "2"),
                Arguments.of("a comment after a tab", "B='2'\t# why\n", "B", "2"),
                Arguments.of("whitespace after a value", "B='2' \t \nC='3'", "B", "2"),
                Arguments.of("whitespace in a value", "A='   x y   '\n", "A", "   x y   "),
                Arguments.of("only whitespace", "A='   '\nB='\t'\n", "A", "   "),
                Arguments.of("an empty value", "A='1'\nB=''\nC='3'\n", "B", ""),
                Arguments.of("equals signs in a value", "A='x=y=z'\n", "A", "x=y=z"),
                Arguments.of("a variable is not expanded", "A='$HOME ${HOME}-$_ $'\n", "A", "$HOME ${HOME}-$_ $"),
                Arguments.of("a command is not run", "A='`id` $(id)'\n", "A", "`id` $(id)"),
                Arguments.of(
                        "special characters",
                        "A='!@#$%^&*()_+-=[]{}|;:,.<>?/~'\n",
                        "A",
                        "!@#$%^&*()_+-=[]{}|;:,.<>?/~"),
                Arguments.of("escapes stay as they are", "A='x\\ny\\tz\\\\'\n", "A", "x\\ny\\tz\\\\"),
                Arguments.of("double quotes", "A='say \"hello\"'\n", "A", "say \"hello\""),
                Arguments.of("other scripts", "A='数据 données 🌍'\n", "A", "数据 données 🌍"),
                Arguments.of(
                        "JSON",
                        "A='{\"n\": [1, 2], \"o\": {\"k\": \"v\"}}'\n",
                        "A",
                        "{\"n\": [1, 2], \"o\": {\"k\": \"v\"}}"),
                Arguments.of("a URL", "A='https://x.example/p?q=v&r=w'\n", "A", "https://x.example/p?q=v&r=w"),
                Arguments.of("markup", "A='<a b=\"c\">d</a>'\n", "A", "<a b=\"c\">d</a>"),
                Arguments.of("base64", "A='aGVsbG8='\n", "A", "aGVsbG8="),
                Arguments.of("a regular expression", "A='^[a-z]+\\.[a-z]{2,}$'\n", "A", "^[a-z]+\\.[a-z]{2,}$"),
                Arguments.of("several lines", "A='one\n  two\n    three  '\nB='2'\n", "A", "one\n  two\n    three  "),
                Arguments.of("empty lines in a value", "A='one\n\n\nfour'\n", "A", "one\n\n\nfour"),
                Arguments.of("a line in a value that looks like a comment", "A='one\n# two'\n", "A", "one\n# two"),
                Arguments.of("a line in a value that looks like a variable", "A='one\nB=2'\nB='3'\n", "B", "3"),
                Arguments.of(
                        "a key in several lines",
                        "A='-----BEGIN\nMII=\n-----END'\n",
                        "A",
                        "-----BEGIN\nMII=\n-----END"),
                Arguments.of("no line break at the end", "A='1'", "A", "1"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("values")
    void value_isThatOfTheFirstVariable(String situation, String file, String name, String value) throws IOException {
        assertThat(EnvFile.value(file, name)).isEqualTo(value);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("values")
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void value_isWhatAShellReads(String situation, String file, String name, String value)
            throws IOException, InterruptedException {
        Path script = Files.writeString(folder.resolve("vars.env"), file);
        Process shell = new ProcessBuilder(
                        "sh", "-c", ". \"$1\" && printf %s \"$" + name + "\"", "sh", script.toString())
                .redirectErrorStream(true)
                .start();
        String read = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(shell.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(shell.exitValue()).isZero();
        assertThat(read).isEqualTo(value);
    }

    @Test
    void value_afterABlank_isEmpty_andTheNextLineCounts() throws IOException {
        assertThat(EnvFile.value("A= 'hunter2'\nB='2'\n", "A")).isEmpty();
        assertThat(EnvFile.value("A= 'hunter2'\nB='2'\n", "B")).isEqualTo("2");
    }

    @Test
    void comment_rightAfterTheQuote_isOne() throws IOException {
        assertThat(EnvFile.value("B='2'#x\n", "B")).isEqualTo("2");
    }

    @ParameterizedTest
    @CsvSource({"A='1', 2", "'', 2"})
    void unclosedQuote_isReportedWithTheLineWhereItBegins(String before, int line) {
        assertThatThrownBy(() -> EnvFile.value(before + "\nB='hunter2\n\n", "B"))
                .isInstanceOf(IOException.class)
                .hasMessage("invalid environment variable format starting at line " + line + ": unclosed single quote");
    }

    @Test
    void value_ofAnUnknownName_isNone() throws IOException {
        assertThat(EnvFile.value("A='1'\nB='2'\n", "C")).isNull();
        assertThat(EnvFile.value("A='1'\n", "a")).isNull();
        assertThat(EnvFile.value("", "A")).isNull();
        assertThat(EnvFile.value("A='1'\n", "")).isNull();
    }

    @Test
    void value_ofAFileWithCarriageReturns_hasNone() throws IOException {
        assertThat(EnvFile.value("# x\r\n\r\nA='one\r\ntwo' # y\r\nB='2'\r\n", "A"))
                .isEqualTo("one\ntwo");
    }

    @Test
    void value_ofSeveral_isTheFirst_andWhatFollowsIsNotLookedAt() throws IOException {
        assertThat(EnvFile.value("A='1'\nA='2'\nnonsense\n", "A")).isEqualTo("1");
    }

    static Stream<Arguments> errors() {
        return Stream.of(
                Arguments.of("A = '1'\nB=   '2'\n", 1, "whitespace before '=' is not allowed"),
                Arguments.of("A='1'\nB ='hunter2'\n", 2, "whitespace before '=' is not allowed"),
                Arguments.of("='hunter2'\nB='2'\n", 1, "expected NAME='value'"),
                Arguments.of("A='1'\nhunter2\nB='2'\n", 2, "expected NAME='value'"),
                Arguments.of("A='1'\nB=hunter2\nC='3'\n", 2, "value must be enclosed in single quotes"),
                Arguments.of("A='1'\nB=\"hunter2\"\nC='3'\n", 2, "value must be enclosed in single quotes"),
                Arguments.of("A='1'\nB=\n", 2, "value must be enclosed in single quotes"),
                Arguments.of("B='hunter2''x'\n", 1, "unexpected content after closing quote"),
                Arguments.of("A='1'\nB='hunter2\nC='3'\n", 3, "unexpected content after closing quote"),
                Arguments.of("A='1'\nB='hunter2'x\nC='3'\n", 2, "unexpected content after closing quote"),
                Arguments.of("B='it\\'s hunter2'\n", 1, "unexpected content after closing quote"));
    }

    @ParameterizedTest
    @MethodSource
    void errors(String file, int line, String why) {
        assertThatThrownBy(() -> EnvFile.value(file, "B"))
                .isInstanceOf(IOException.class)
                .hasMessage("invalid environment variable format at line " + line + ": " + why);
    }
}
