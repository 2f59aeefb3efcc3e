package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestLogTest {

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream console = new ByteArrayOutputStream();

    private TestLog log() {
        return new TestLog(folder.resolve("logs"), new PrintStream(console, true, UTF_8));
    }

    private String file(String name) throws IOException {
        return Files.readString(folder.resolve("logs").resolve(name + ".log"));
    }

    private String shown() {
        return console.toString(UTF_8);
    }

    @Test
    void lines_areInTheFileOfTheirClass_andNotOnTheConsole() throws IOException {
        TestLog log = log();
        log.beginClass("One");
        log.beginTest("first");
        log.add("logged\n\tat a line of its trace\n");
        log.stream().println("printed");
        log.beginClass("Other");
        log.stream().print("a part, ");
        log.add("of the other");

        assertThat(file("One")).isEqualTo("""
                --- first
                logged
                \tat a line of its trace
                printed
                """);
        assertThat(file("Other")).isEqualTo("of the other\n");
        assertThat(shown()).isEmpty();
    }

    @Test
    void failed_showsTheTrace_theLinesOfItsTest_andThePath() {
        TestLog log = log();
        log.beginClass("One");
        log.beginTest("first");
        log.add("of the first");
        log.beginTest("second");
        log.add("of the second");

        log.failed("second", new IllegalStateException("lost"));

        assertThat(shown())
                .contains("*** One.second failed:")
                .contains("java.lang.IllegalStateException: lost")
                .contains("at dev.podcache.testing.TestLogTest.")
                .contains("all are in " + folder.resolve("logs").resolve("One.log"))
                .contains("of the second")
                .doesNotContain("of the first");
    }

    @Test
    void failed_manyLines_showsTheLast() {
        TestLog log = log();
        log.beginClass("One");
        log.beginTest("first");
        for (int i = 1; i <= 1_000; i++) {
            log.add("line " + i);
        }

        log.failed("first", new IllegalStateException("lost"));

        assertThat(shown().lines().filter(line -> line.startsWith("line ")))
                .hasSize(TestLog.LAST)
                .first()
                .isEqualTo("line 701");
    }

    @Test
    void failed_often_showsTheLinesOfTheFirstOnly() {
        TestLog log = log();
        log.beginClass("One");
        for (int i = 1; i <= 100; i++) {
            log.beginTest("test");
            log.add("own line");
            log.failed("test", new IllegalStateException("lost"));
        }

        assertThat(shown().lines().filter("*** One.test failed:"::equals)).hasSize(100);
        assertThat(shown().lines().filter("own line"::equals)).hasSize(TestLog.SHOWN);
    }

    @Test
    void lines_moreThanAFileMayHave_areLeftOut_butTheLastOfAFailedTest() throws IOException {
        TestLog log = log();
        log.beginClass("One");
        log.beginTest("first");
        String line = "x".repeat(10_000);
        for (int i = 0; i < 1_000; i++) {
            log.add(line);
        }
        assertThat(file("One")).hasSizeLessThan(5 << 20).endsWith("... the rest is left out\n");
        log.beginTest("second");
        log.add("own line");

        log.failed("second", new IllegalStateException("lost"));

        assertThat(file("One")).endsWith("own line\n");
    }
}
