package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.access.GrantPolicy;
import dev.podcache.cli.access.StrategyAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The verbs in the documentation are those that {@code rbac} prints and {@code doctor} checks, and its policies can be read. */
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

    @Test
    void policiesOfThePage_areRead(@TempDir Path folder) throws IOException {
        List<String> policies = Documents.blocks(Path.of("docs/access.md"), "yaml");
        assertThat(policies).hasSize(2);
        for (String policy : policies) {
            assertThat(GrantPolicy.read(Files.writeString(folder.resolve("policy.yaml"), policy)))
                    .isNotNull();
        }
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
