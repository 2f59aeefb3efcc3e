package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What docs/getting-started.md says that the classes of the test kit need is what they and the classes that they use import. */
class TestKitDocumentTest {

    private static final Path KIT = Path.of("src/test/java/dev/podcache/testing");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ((?:`\\w+`(?:, )?)+) \\| .* \\| ([^|]+) \\|$");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?([\\w.]+);");
    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/");
    private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w*");

    private static final Map<String, String> SOURCES = sources();

    /** What the kit's users have not got with the library, by the beginning of the names of its classes. */
    private static final Map<String, String> NEEDS = needs();

    private record KitRow(List<String> classes, Set<String> needs) {}

    private static Map<String, String> needs() {
        Map<String, String> needs = new LinkedHashMap<>();
        needs.put("dev.podcache.kubelet.", "the jar `node`");
        needs.put("dev.podcache.embedded.", "the jar `testkit`");
        needs.put("dev.podcache.testkit.", "the jar `testkit`");
        needs.put("org.junit.", "JUnit 5");
        needs.put("org.assertj.", "AssertJ");
        needs.put("org.awaitility.", "Awaitility");
        needs.put("net.jqwik.", "jqwik");
        needs.put("ch.qos.logback.", "logback-classic");
        needs.put("io.fabric8.kubeapitest.", "kube-api-test");
        needs.put("org.bouncycastle.", "bcpkix-jdk18on");
        needs.put("io.vertx.", "vertx-core");
        return needs;
    }

    private static Map<String, String> sources() {
        try (Stream<Path> files = Files.list(KIT)) {
            return files.filter(file -> !file.endsWith("package-info.java"))
                    .collect(Collectors.toMap(
                            file -> file.getFileName().toString().replace(".java", ""),
                            file -> COMMENT.matcher(Documents.text(file)).replaceAll("")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<KitRow> rows() {
        return ROW.matcher(Documents.text(Path.of("docs/getting-started.md")))
                .results()
                .map(row -> new KitRow(
                        Arrays.stream(row.group(1).replace("`", "").split(", ")).toList(),
                        row.group(2).equals("nothing else")
                                ? Set.of()
                                : new TreeSet<>(List.of(row.group(2).split(", ")))))
                .filter(row -> SOURCES.keySet().containsAll(row.classes()))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("rows")
    void row_namesWhatItsClassesNeed(KitRow row) {
        Set<String> found = new TreeSet<>();
        row.classes().forEach(name -> found.addAll(neededBy(name)));

        assertThat(row.needs()).as(row.classes().toString()).isEqualTo(found);
    }

    @Test
    void rows_areFound() {
        assertThat(rows().stream().flatMap(row -> row.classes().stream()))
                .contains("PodRuntimeContract", "NoLeaks", "RealApiServer", "ManualTimekeeper");
    }

    private static Set<String> neededBy(String name) {
        Set<String> needed = new TreeSet<>();
        Set<String> seen = new TreeSet<>(Set.of(name));
        Deque<String> open = new ArrayDeque<>(seen);
        while (!open.isEmpty()) {
            String source = SOURCES.get(open.pop());
            IMPORT.matcher(source)
                    .results()
                    .forEach(found -> NEEDS.forEach((prefix, what) -> {
                        if (found.group(1).startsWith(prefix)) {
                            needed.add(what);
                        }
                    }));
            NAME.matcher(source)
                    .results()
                    .map(found -> found.group())
                    .filter(SOURCES::containsKey)
                    .filter(seen::add)
                    .forEach(open::push);
        }
        return needed;
    }
}
