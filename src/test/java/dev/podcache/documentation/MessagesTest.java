package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages in the table of docs/troubleshooting.md are texts of the code, or of others who are named here. */
class MessagesTest {

    private static final Path PAGE = Path.of("docs/troubleshooting.md");

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern JOINED_LITERALS = Pattern.compile("\"\\s*\\+\\s*\"");

    /** What differs from case to case: numbers, names of reasons, what dots stand for. */
    private static final Pattern VARIES = Pattern.compile("\\d+|\\.\\.\\.|\\b[A-Z_]{6,}\\b|: |/");

    /** Texts of the JDK, SLF4J and the API server, and where the reader meets a text. */
    private static final Set<String> OF_OTHERS = Set.of(
            "unable to find valid certification path",
            "No SLF4J providers were found",
            "the server has asked for the client to provide credentials",
            "is not allowed to modify node",
            "kubectl logs",
            "kubectl exec",
            "exec",
            "attach",
            "port-forward",
            "get --raw");

    /** Of half a part: shorter ones are in every file, but as literals of their own. */
    private static final int SHORTEST = 6;

    private static final List<String> SOURCES = sources();

    private static List<String> sources() {
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(Documents::text)
                    .map(text -> JOINED_LITERALS.matcher(text).replaceAll(""))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> messages() {
        String table = Documents.text(PAGE).split("\n## Messages\n", 2)[1];
        return table.lines()
                .filter(line -> line.startsWith("| "))
                .map(line -> line.split(" \\| ", 2)[0])
                .flatMap(cell -> CODE.matcher(cell).results().map((MatchResult found) -> found.group(1)))
                .filter(message -> !OF_OTHERS.contains(message))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("messages")
    void message_isATextOfTheCode(String message) {
        assertThat(isInTheCode(message)).as(message).isTrue();
    }

    @Test
    void messages_areFound() {
        assertThat(messages())
                .contains("is not registered", "no health port: cannot listen on")
                .hasSizeGreaterThan(25);
    }

    @ParameterizedTest
    @ValueSource(strings = {"is not registred", "OSHI is not in the class path", "the certificate of ... is burnt"})
    void isInTheCode_anotherText_isNoticed(String message) {
        assertThat(isInTheCode(message)).isFalse();
    }

    private static boolean isInTheCode(String message) {
        return Arrays.stream(VARIES.split(message))
                .map(String::strip)
                .filter(part -> part.length() > 2)
                .allMatch(part -> SOURCES.stream().anyMatch(source -> has(source, part)));
    }

    /** A value may stand in the middle of a part, between two literals of a file. */
    private static boolean has(String source, String part) {
        return source.contains(part)
                || IntStream.range(1, part.length())
                        .filter(i -> part.charAt(i) == ' ')
                        .anyMatch(i ->
                                isLiteral(source, part.substring(0, i)) && isLiteral(source, part.substring(i + 1)));
    }

    private static boolean isLiteral(String source, String words) {
        return words.length() >= SHORTEST ? source.contains(words) : source.contains("\"" + words + "\"");
    }
}
