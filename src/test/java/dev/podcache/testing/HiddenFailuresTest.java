package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.testkit.FakePodcache;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterProperty;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs small tests and properties with failures that they cannot see, and checks their results. */
class HiddenFailuresTest {

    private static final Logger log = LoggerFactory.getLogger(HiddenFailuresTest.class);
    private static final Logger another = LoggerFactory.getLogger("org.example");

    private static final ImmutableMap<String, Runnable> ACTIONS = ImmutableMap.<String, Runnable>builder()
            .put("an error", () -> log.error("broken"))
            .put("a warning", () -> log.warn("broken"))
            .put("a warning with an exception", () -> log.warn("broken", new IllegalStateException("lost")))
            .put("a line with an exception", () -> log.info("broken", new IllegalStateException("lost")))
            .put("a line with an assertion", () -> log.debug("broken", new AssertionError("seven")))
            .put("a line that names an assertion", () -> log.info("broken: {}", new AssertionError("seven").toString()))
            .put("a cause", () -> log.info("broken", new IllegalStateException(new AssertionError("seven"))))
            .put("a suppressed assertion", () -> log.info("broken", suppressing(new AssertionError("seven"))))
            .put("an error of another", () -> another.error("broken"))
            .put("an assertion of another", () -> another.info("broken", new AssertionError("seven")))
            .put("a thread", HiddenFailuresTest::throwInAnotherThread)
            .put("a listener", HiddenFailuresTest::assertInAListener)
            .put("nothing", () -> {})
            .buildOrThrow();

    private static final List<Integer> tried = new ArrayList<>();
    private static Runnable action = () -> {};

    @ParameterizedTest
    @ValueSource(strings = {"a warning", "a line with an exception", "an error of another", "nothing"})
    void test_withoutHiddenFailure_passes(String what) {
        assertThat(complaintsOfATest(what, "runs")).isEmpty();
        assertThat(complaintsOfAProperty(what, "runs")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    an error                        | ERROR dev.podcache.testing.HiddenFailuresTest: broken
                    a warning with an exception     | WARN dev.podcache.testing.HiddenFailuresTest: broken
                    a line with an assertion        | DEBUG dev.podcache.testing.HiddenFailuresTest: broken
                    a line that names an assertion  | INFO dev.podcache.testing.HiddenFailuresTest: broken
                    a cause                         | INFO dev.podcache.testing.HiddenFailuresTest: broken
                    a suppressed assertion          | INFO dev.podcache.testing.HiddenFailuresTest: broken
                    an assertion of another         | INFO org.example: broken
                    a thread                        | uncaught in thread thrower: java.lang.IllegalStateException: lost
                    a listener                      | ERROR dev.podcache.manager.Manager: a listener failed
                    """)
    void test_withAHiddenFailure_fails(String what, String complaint) {
        assertThat(complaintsOfATest(what, "runs"))
                .singleElement()
                .asString()
                .startsWith("the test left behind:")
                .contains(complaint);
        assertThat(complaintsOfAProperty(what, "runs"))
                .singleElement()
                .asString()
                .startsWith("the test left behind:")
                .contains(complaint);
    }

    @ParameterizedTest
    @ValueSource(strings = {"an error", "a warning", "a warning with an exception", "a line with an assertion"})
    void expectedWarning_isLogged_passes(String what) {
        assertThat(complaintsOfATest(what, "expectsBroken")).isEmpty();
        assertThat(complaintsOfAProperty(what, "expectsBroken")).isEmpty();
    }

    @Test
    void expectedWarning_isMissing_fails() {
        String complaint = "expected, but not logged: a warning with \"broken\"";

        assertThat(complaintsOfATest("nothing", "expectsBroken"))
                .singleElement()
                .asString()
                .contains(complaint);
        assertThat(complaintsOfAProperty("nothing", "expectsBroken"))
                .singleElement()
                .asString()
                .contains(complaint);
    }

    @Test
    void property_withAHiddenFailureInATry_shrinksItsArguments() {
        complaintsOfAProperty("a listener", "runs");

        assertThat(tried).contains(SampleTries.LEAST);
    }

    @Test
    void property_withAHiddenFailureAfterItsTries_fails() {
        act("an error");

        assertThat(complaints("jqwik", selectClass(SampleTriesWithAnEnd.class)))
                .singleElement()
                .asString()
                .contains("HiddenFailuresTest: broken");
    }

    @Test
    void nestedTest_withAHiddenFailure_fails() {
        act("an error");

        assertThat(complaints("junit-jupiter", selectClass(PlainSamples.Inner.class)))
                .singleElement()
                .asString()
                .contains("HiddenFailuresTest: broken");
    }

    @Test
    void class_withAHiddenFailureAfterItsTests_fails() {
        act("an error");

        assertThat(complaints("junit-jupiter", selectClass(AtTheEnd.class)))
                .singleElement()
                .asString()
                .contains("HiddenFailuresTest: broken");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    an error                  | ERROR dev.podcache.testing.HiddenFailuresTest: broken
                    a line with an assertion  | DEBUG dev.podcache.testing.HiddenFailuresTest: broken
                    """)
    void underNoLeaks_hiddenFailure_isReportedOnce(String what, String complaint) {
        act(what);

        assertThat(complaints("junit-jupiter", selectMethod(Strict.class, "runs")))
                .singleElement()
                .asString()
                .containsOnlyOnce(complaint);
        assertThat(complaints("junit-jupiter", selectMethod(Strict.class, "expectsBroken")))
                .isEmpty();
    }

    private static void act(String what) {
        action = Objects.requireNonNull(ACTIONS.get(what), what);
    }

    private static List<String> complaintsOfATest(String what, String test) {
        act(what);
        return complaints("junit-jupiter", selectMethod(PlainSamples.class, test));
    }

    private static List<String> complaintsOfAProperty(String what, String property) {
        act(what);
        tried.clear();
        return complaints("jqwik", selectMethod(SampleTries.class, property, "int"));
    }

    private static List<String> complaints(String engine, DiscoverySelector tests) {
        return EngineTestKit.engine(engine)
                // junit-platform.properties, which has JUnit find the extension
                .enableImplicitConfigurationParameters(true)
                .configurationParameter("jqwik.database", "")
                .selectors(tests)
                .execute()
                .allEvents()
                .finished()
                .stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                .flatMap(result -> result.getThrowable().stream())
                .map(Throwable::getMessage)
                .toList();
    }

    private static IllegalStateException suppressing(Throwable suppressed) {
        IllegalStateException failure = new IllegalStateException("lost");
        failure.addSuppressed(suppressed);
        return failure;
    }

    private static void throwInAnotherThread() {
        Thread thrower = new Thread(
                () -> {
                    throw new IllegalStateException("lost");
                },
                "thrower");
        thrower.start();
        // Awaitility would report the exception itself
        Uninterruptibles.joinUninterruptibly(thrower);
    }

    /** An assertion about an event, which a property without the hook cannot fail by. */
    private static void assertInAListener() {
        try (FakePodcache cache = new FakePodcache()) {
            CountDownLatch told = new CountDownLatch(1);
            cache.secrets().listen(Runnable::run, event -> {
                told.countDown();
                assertThat(event.key().name()).isEqualTo("another");
            });
            cache.registerPod(Pods.withSecrets("shop", "web", "uid-web", List.of("db")));
            cache.put(Secrets.of("shop", "db", "v1"));
            assertThat(told.getCount()).isZero();
        }
    }

    static class PlainSamples {

        @Test
        void runs() {
            action.run();
        }

        @Test
        @ExpectedWarnings("broken")
        void expectsBroken() {
            action.run();
        }

        @Nested
        class Inner {
            @Test
            void runs() {
                action.run();
            }
        }
    }

    static class AtTheEnd {

        @AfterAll
        static void end() {
            action.run();
        }

        @Test
        void passes() {
            Thread.onSpinWait();
        }
    }

    @ExtendWith(NoLeaks.class)
    static class Strict {

        @Test
        void runs() {
            action.run();
        }

        @Test
        @ExpectedWarnings("broken")
        void expectsBroken() {
            action.run();
        }
    }

    static class SampleTries {

        static final int LEAST = 500;

        @Property(tries = 50)
        void runs(@ForAll @IntRange(max = 999) int number) {
            tried.add(number);
            if (number >= LEAST) {
                action.run();
            }
        }

        @Property(tries = 50)
        @ExpectedWarnings("broken")
        void expectsBroken(@ForAll @IntRange(max = 999) int number) {
            if (number >= LEAST) {
                action.run();
            }
        }
    }

    static class SampleTriesWithAnEnd {

        @Property(tries = 5)
        void holds(@ForAll int number) {
            Thread.onSpinWait();
        }

        @AfterProperty
        void end() {
            action.run();
        }
    }
}
