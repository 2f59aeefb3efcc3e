package dev.podcache.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import com.google.common.collect.Lists;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The documentation shows the packages and their lines as {@link Layers} has them. */
class HouseTest {

    private static final String FRONT_DOOR = "dev.podcache";
    private static final String ARCHITECTURE = "docs/architecture.md";

    private static final String PACKAGE_INFO = "src/main/java/dev/podcache/package-info.java";

    /** A number and names, in a Markdown block or in a Javadoc comment. */
    private static final Pattern LINE = Pattern.compile("(?m)^(?: \\* )? ?(\\d+) {2}(\\S.*)$");

    private static final Pattern PACKAGE_ROW = Pattern.compile("(?m)^\\| `([a-z.0-9]+)` \\|");

    @ParameterizedTest
    @ValueSource(strings = {ARCHITECTURE, PACKAGE_INFO})
    void linesOfPackages_areThoseOfTheImportRule(String file) throws IOException {
        List<MatchResult> lines =
                LINE.matcher(Files.readString(Path.of(file))).results().toList();

        assertThat(lines)
                .extracting(line -> Integer.valueOf(line.group(1)))
                .as("numbered from the top to the bottom")
                .isSortedAccordingTo((one, other) -> other - one)
                .endsWith(1);
        assertThat(Lists.reverse(lines))
                .extracting(line -> Splitter.onPattern(" {2,}").splitToList(line.group(2)))
                .isEqualTo(shown());
    }

    @Test
    void drawing_ofThePackageInfo_isThatOfTheDocument() throws IOException {
        String drawing = Splitter.on("```\n")
                .splitToList(Files.readString(Path.of(ARCHITECTURE)))
                .get(1);
        String javadoc = Files.readString(Path.of(PACKAGE_INFO)).replace("-&gt;", "->");

        assertThat(drawing.lines().map(line -> (" *  " + line).stripTrailing()))
                .hasSizeGreaterThan(10)
                .allSatisfy(line -> assertThat(javadoc).contains(line + "\n"));
    }

    @Test
    void tableOfPackages_hasEachOnce() throws IOException {
        List<String> rows = PACKAGE_ROW
                .matcher(Files.readString(Path.of(ARCHITECTURE)))
                .results()
                .map(row -> row.group(1))
                .toList();

        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(
                        shown().stream().flatMap(List::stream).toList());
    }

    private static List<List<String>> shown() {
        return Layers.LINES.stream()
                .map(line -> line.stream()
                        .map(name -> name.isEmpty() ? FRONT_DOOR : name)
                        .toList())
                .toList();
    }
}
