package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each row of the table of threats names a test that exists, or says that it cannot have one. */
class ThreatTableTest {

    private static final Path PAGE = Path.of("docs/access.md");
    private static final Pattern TEST = Pattern.compile("\\[(\\w+)#(\\w+)]\\(\\.\\./(src/test/java/[^)]*\\.java)\\)");

    static List<String> rows() {
        String section = Documents.text(PAGE).split("## Who can do what", 2)[1].split("\n## ", 2)[0];
        return section.lines()
                .filter(line -> line.startsWith("| "))
                .skip(1) // the header
                .toList();
    }

    @ParameterizedTest
    @MethodSource("rows")
    void row_namesATestThatExists_orSaysWhyThereIsNone(String row) throws Exception {
        List<String> cells = Splitter.on('|').omitEmptyStrings().splitToList(row.strip());
        String test = cells.get(cells.size() - 1).strip();
        if (test.startsWith("none: ")) {
            assertThat(test).as("a reason").hasSizeGreaterThan("none: ".length() + 20);
            return;
        }
        Matcher named = TEST.matcher(test);
        assertThat(named.matches()).as(row).isTrue();
        Path file = Path.of(named.group(3));
        assertThat(file).hasFileName(named.group(1) + ".java");
        assertThat(Files.readString(file))
                .containsPattern("@(Test|ParameterizedTest|CsvSource|Property)")
                .contains("void " + named.group(2) + "(");
    }

    @Test
    void table_beginsWithTheAuthorsOfResources_andKnowsAllHolders() {
        assertThat(rows().get(0)).startsWith("| whoever may create a Website | choose what the operator may read");
        assertThat(rows()).hasSizeGreaterThan(8);
        assertThat(Stream.of("the operator's credentials", "the controller's credentials", "backup of etcd"))
                .allSatisfy(holder -> assertThat(rows()).anyMatch(row -> row.contains(holder)));
    }

    @Test
    void page_beginsWithTheQuestion_andEndsWithWhatIsNotProtected() {
        List<String> lines = Documents.text(PAGE).lines().toList();

        assertThat(lines.get(2)).startsWith("*My operator").endsWith("?*");
        assertThat(lines.stream().filter(line -> line.startsWith("## ")).reduce((first, second) -> second))
                .hasValue("## What is not protected");
    }
}
