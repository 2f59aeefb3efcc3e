package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.PodcacheBuilder;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Flags, members of classes and options of the builder that the prose of the documentation names exist. */
class ProseTest {

    private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern FLAG = Pattern.compile("(?<![\\w-])--[a-z][\\w-]+");
    private static final Pattern FLAG_IN_CODE = Pattern.compile("\"(--[a-z][\\w-]*)\"");
    private static final Pattern MEMBER = Pattern.compile("(?<![\\w./])([A-Z]\\w*)\\.([a-z]\\w*)(?=[(`#]|$)");
    private static final Pattern BUILDER_ROW =
            Pattern.compile("(?m)^\\| ((?:`\\w+\\([^`]*\\)`(?:, )?)+) \\| ([^|]+) \\|");
    private static final Pattern CALL = Pattern.compile("`(\\w+)\\(");

    /** Flags of Kubernetes' programs, of gpg and of the JVM. */
    private static final Set<String> FLAGS_OF_OTHERS = Set.of(
            "--armor",
            "--audit-log-path",
            "--cluster-signing-key-file",
            "--controllers",
            "--default-unreachable-toleration-seconds",
            "--detach-sign",
            "--enable-native-access",
            "--kubelet-certificate-authority",
            "--sun-misc-unsafe-memory-access");

    private static final Map<String, String> SOURCES = sources();

    private static final Set<String> FLAGS = SOURCES.values().stream()
            .flatMap(source -> FLAG_IN_CODE.matcher(source).results())
            .map((MatchResult found) -> found.group(1))
            .collect(Collectors.toSet());

    private static Map<String, String> sources() {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> files = Files.walk(Path.of("src"))) {
            files.filter(file -> file.toString().endsWith(".java"))
                    .forEach(file ->
                            sources.put(file.getFileName().toString().replace(".java", ""), Documents.text(file)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sources;
    }

    static List<Path> documents() {
        return Documents.all();
    }

    private static Stream<String> codes(Path document) {
        return CODE.matcher(Documents.prose(document)).results().map((MatchResult found) -> found.group(1));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void flagsAndMembers_exist(Path document) {
        assertThat(codes(document)).allSatisfy(code -> assertThat(unknown(code)).isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"podcache run --node-ipp 1", "ObjectKind.off(Database.class)", "FakePodcache.denie"})
    void unknown_mistake_isFound(String code) {
        assertThat(unknown(code)).hasSize(1);
    }

    /** Returns the flags that no command has, and the members that no class of ours of that name has. */
    private static Set<String> unknown(String code) {
        Set<String> unknown = new TreeSet<>();
        FLAG.matcher(code)
                .results()
                .map((MatchResult found) -> found.group())
                .filter(flag -> !FLAGS.contains(flag) && !FLAGS_OF_OTHERS.contains(flag))
                .forEach(unknown::add);
        MEMBER.matcher(code).results().forEach(found -> {
            String source = SOURCES.get(found.group(1));
            if (source != null
                    && !Pattern.compile("\\b" + found.group(2) + "\\b")
                            .matcher(source)
                            .find()) {
                unknown.add(found.group());
            }
        });
        return unknown;
    }

    @Test
    void tableOfOptions_hasEachOptionOfTheBuilder_withItsDefault() {
        String builder = Documents.text(Path.of("src/main/java/dev/podcache/PodcacheBuilder.java"));
        Map<String, String> rows = new TreeMap<>();
        String section = Documents.text(Path.of("docs/getting-started.md")).split("\n### Options\n", 2)[1];
        BUILDER_ROW
                .matcher(section.substring(0, section.indexOf("\n## ")))
                .results()
                .forEach(row -> CALL.matcher(row.group(1))
                        .results()
                        .forEach(call ->
                                rows.putIfAbsent(call.group(1), row.group(2).strip())));

        assertThat(rows.keySet())
                .isEqualTo(Arrays.stream(PodcacheBuilder.class.getDeclaredMethods())
                        .filter(method -> Modifier.isPublic(method.getModifiers())
                                && !method.getName().equals("build"))
                        .map(Method::getName)
                        .filter(name -> !builder.contains("@NotApi\n    public PodcacheBuilder " + name + "("))
                        .collect(Collectors.toCollection(TreeSet::new)));
        assertThat(rows)
                .containsEntry(
                        "firstSyncTimeout", WatchTimes.DEFAULT.firstSync().toSeconds() + " s")
                .containsEntry("idleAfter", WatchTimes.DEFAULT.idleAfter().toMinutes() + " min")
                .containsEntry("readTimeout", StoreOptions.DEFAULT_READ_TIMEOUT.toSeconds() + " s");
        assertThat(builder)
                .contains("DEFAULT_TTL = Duration.ofSeconds("
                        + rows.getOrDefault("defaultTtl", "").replace(" s", "") + ")");
    }
}
