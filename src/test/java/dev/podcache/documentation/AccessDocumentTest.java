package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.access.StrategyAccess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The verbs in the documentation are those that {@code rbac} prints and {@code doctor} checks. */
class AccessDocumentTest {

    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([A-Z]+) \\| ([`a-z, ]+) \\|$");

    @Test
    void verbsOfEachStrategy_areThoseOfTheCode() {
        Map<String, String> rows = ROW.matcher(Documents.text(Path.of("docs/rbac.md")))
                .results()
                .collect(Collectors.toMap(
                        row -> row.group(1), row -> row.group(2).replace("`", "")));

        assertThat(rows)
                .isEqualTo(Arrays.stream(StrategyAccess.values())
                        .collect(Collectors.toMap(StrategyAccess::name, access -> String.join(", ", access.verbs()))));
    }

    /** The table of the README compares the strategies, a column each. */
    @Test
    void verbsInTheReadme_areThoseOfTheCode() {
        String row = Documents.text(Documents.README)
                .lines()
                .filter(line -> line.startsWith("| verbs, by name |"))
                .findFirst()
                .orElseThrow();

        assertThat(row.replace("`", ""))
                .isEqualTo("| verbs, by name | " + String.join(", ", StrategyAccess.WATCH.verbs())
                        + " (or get, watch) | " + String.join(", ", StrategyAccess.CACHE.verbs()) + " | "
                        + String.join(", ", StrategyAccess.GET.verbs()) + " |");
    }
}
