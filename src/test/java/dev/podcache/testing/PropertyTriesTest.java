package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.LifecycleHook;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineTestKit;

class PropertyTriesTest {

    private static final Path TESTS = Path.of("src/test/java");
    private static final Pattern PROPERTY = Pattern.compile("(?m)^ +@Property(\\([^)]*\\))?$");

    private static final Map<String, Integer> tried = new TreeMap<>();

    /** The effort {@code nightly}, whatever the effort of this test. */
    static final class Nightly extends PropertyTries {
        Nightly() {
            super(true);
        }
    }

    @AddLifecycleHook(Nightly.class)
    static class CountedTries {

        @Property
        void ofTheDefault(@ForAll long any) {
            tried.merge("default", 1, Integer::sum);
        }

        @Property(tries = 20)
        void thatTakesLong(@ForAll long any) {
            tried.merge("long", 1, Integer::sum);
        }

        @Example
        void example() {
            tried.merge("example", 1, Integer::sum);
        }
    }

    @Test
    void nightly_triesEachProperty50TimesAsOften() {
        EngineTestKit.engine("jqwik")
                .configurationParameter("jqwik.database", "")
                .configurationParameter("jqwik.reporting.onlyfailures", "true")
                .selectors(selectClass(CountedTries.class))
                .execute();

        // under the effort nightly, the hook of all properties multiplies, too
        int factor = Effort.NIGHTLY ? PropertyTries.FACTOR * PropertyTries.FACTOR : PropertyTries.FACTOR;
        assertThat(tried).isEqualTo(Map.of("default", 1_000 * factor, "long", 20 * factor, "example", 1));
    }

    @Test
    void hook_isThatOfEveryProperty() {
        assertThat(ServiceLoader.load(LifecycleHook.class)).hasAtLeastOneElementOfType(PropertyTries.class);
    }

    /** A seed of its own would let a property try the same values every night, and another mode would ignore the tries. */
    @Test
    void properties_leaveSeedAndGenerationToTheRun() throws IOException {
        List<MatchResult> properties = new ArrayList<>();
        try (Stream<Path> sources = Files.walk(TESTS)) {
            for (Path source : sources.filter(PropertyTriesTest::isOfAProperty).toList()) {
                PROPERTY.matcher(Files.readString(source)).results().forEach(properties::add);
            }
        }

        assertThat(properties).hasSizeGreaterThan(70);
        assertThat(properties)
                .extracting(MatchResult::group)
                .noneMatch(property -> property.contains("seed") || property.contains("generation"));
    }

    /** Not in the package of this test: there, samples of the hooks' tests have seeds. */
    private static boolean isOfAProperty(Path source) {
        return source.toString().endsWith(".java") && !source.startsWith(TESTS.resolve("dev/podcache/testing"));
    }
}
