package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import com.google.common.base.Ascii;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Runs small tests under {@link NoLeaks}, passing and failing ones, and checks their results. */
class NoLeaksTest {

    /** Long enough to see that a thread does not end. */
    private static final Duration SHORT = Duration.ofMillis(50);

    private static final Queue<Timekeeper> left = new ConcurrentLinkedQueue<>();

    @AfterEach
    void tidyUp() {
        left.forEach(Timekeeper::close);
        left.clear();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "closesWhatItStarted",
                "threadEndsSoonAfter",
                "logsNoWarning",
                "logsTheWarningItExpects",
                "logsAWarningThatIsAllowed",
                "readsAnObject",
                "seesWhatIsNoSecret",
                "checkHolds"
            })
    void afterEach_nothingLeftBehind_passes(String test) {
        assertThat(complaintsOf(Samples.class, test, Duration.ofSeconds(8))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    leavesAThread               | thread podcache-timer-1 lives on
                    throwsInAnotherThread       | uncaught in thread thrower: java.lang.IllegalStateException: lost
                    logsAWarning                | not expected: WARN dev.podcache.testing.NoLeaksTest: beware
                    logsNotWhatItExpects        | expected, but not logged: a warning with "beware"
                    logsTheCanary               | a secret in the log: TRACE dev.podcache.testing.NoLeaksTest: read canary
                    logsTheCanaryInBase64       | a secret in the log: DEBUG
                    logsTheCanaryInAnException  | a secret in the log: INFO
                    logsTheCanaryShifted        | a secret in the log: DEBUG
                    logsTheCanaryInCapitals     | a secret in the log: DEBUG
                    logsTheCanarysBytes         | a secret in the log: DEBUG
                    logsTheCanaryAsContext      | a secret in the log: INFO
                    logsTheCanarySuppressed     | a secret in the log: INFO
                    throwsTheCanaryInAThread    | a secret in what was seen: java.lang.IllegalStateException: canary
                    namesAThreadAfterTheCanary  | a secret in the name of a thread: canary
                    seesTheCanary               | a secret in what was seen: [canary
                    seesTheCanaryAsACause       | a secret in what was seen: java.lang.IllegalStateException
                    modifiesAnObject            | an object that was handed out was modified
                    checkFails                  | a watch is open
                    """)
    void afterEach_somethingLeftBehind_fails(String test, String complaint) {
        assertThat(complaints(test))
                .singleElement()
                .asString()
                .startsWith("the test left behind:")
                .contains(complaint);
    }

    @Test
    void afterEach_fieldsOfTheTestLeakAThread_fails() {
        assertThat(complaintsOf(Fields.class, "usesItsField", SHORT))
                .singleElement()
                .asString()
                .contains("thread podcache-timer-1 lives on");
    }

    @Test
    void afterEach_severalThingsLeftBehind_namesAll() {
        assertThat(complaints("leavesAThreadAndAWarning"))
                .singleElement()
                .asString()
                .contains("thread podcache-timer-1 lives on")
                .contains("not expected: ERROR dev.podcache.testing.NoLeaksTest: beware");
    }

    @Test
    void afterEach_anyOutcome_restoresTheHandlerOfUncaughtExceptions() {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();

        complaints("logsAWarning");

        assertThat(Thread.getDefaultUncaughtExceptionHandler()).isSameAs(before);
    }

    private static List<String> complaints(String test) {
        return complaintsOf(Samples.class, test, SHORT);
    }

    private static List<String> complaintsOf(Class<?> tests, String test, Duration patience) {
        return EngineTestKit.engine("junit-jupiter")
                .configurationParameter(NoLeaks.PATIENCE_PARAMETER, patience.toString())
                .selectors(selectMethod(tests, test, NoLeaks.class.getName()))
                .execute()
                .testEvents()
                .finished()
                .stream()
                .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                .flatMap(result -> result.getThrowable().stream())
                .map(Throwable::getMessage)
                .toList();
    }

    @ExtendWith(NoLeaks.class)
    static final class Samples {

        private static final Logger log = LoggerFactory.getLogger(NoLeaksTest.class);

        private final CountDownLatch ended = new CountDownLatch(1);
        private final Timekeeper timekeeper = Timekeeper.system();

        @AfterEach
        void close() {
            if (!left.contains(timekeeper)) {
                timekeeper.close();
            }
            ended.countDown();
        }

        @Test
        void closesWhatItStarted(NoLeaks noLeaks) {
            timekeeper.schedule(Duration.ofHours(1), () -> {});
        }

        @Test
        void threadEndsSoonAfter(NoLeaks noLeaks) {
            new Thread(this::awaitEnd, "brief").start();
        }

        @Test
        void logsNoWarning(NoLeaks noLeaks) {
            log.info("all is well");
        }

        @Test
        @ExpectedWarnings("bewar")
        void logsTheWarningItExpects(NoLeaks noLeaks) {
            log.warn("beware");
        }

        @Test
        void logsAWarningThatIsAllowed(NoLeaks noLeaks) {
            noLeaks.allowWarnings("bewar");
            log.warn("beware");
        }

        @Test
        void readsAnObject(NoLeaks noLeaks) {
            noLeaks.watchForMutation(secret());
        }

        @Test
        void checkHolds(NoLeaks noLeaks) {
            noLeaks.checkAfter(() -> {});
        }

        @Test
        void leavesAThread(NoLeaks noLeaks) {
            left.add(timekeeper);
            timekeeper.schedule(Duration.ofHours(1), () -> {});
        }

        @Test
        void leavesAThreadAndAWarning(NoLeaks noLeaks) {
            leavesAThread(noLeaks);
            log.error("beware");
        }

        @Test
        void throwsInAnotherThread(NoLeaks noLeaks) throws InterruptedException {
            Thread thrower = new Thread(
                    () -> {
                        throw new IllegalStateException("lost");
                    },
                    "thrower");
            thrower.start();
            thrower.join();
        }

        @Test
        void logsAWarning(NoLeaks noLeaks) {
            log.warn("beware");
        }

        @Test
        @ExpectedWarnings("beware")
        void logsNotWhatItExpects(NoLeaks noLeaks) {
            log.info("beware");
        }

        @Test
        void logsTheCanary(NoLeaks noLeaks) {
            log.trace("read {}", NoLeaks.CANARY);
        }

        @Test
        void logsTheCanaryInBase64(NoLeaks noLeaks) {
            byte[] canary = NoLeaks.CANARY.getBytes(StandardCharsets.UTF_8);
            log.debug("read {}", Base64.getEncoder().encodeToString(canary));
        }

        @Test
        void logsTheCanaryInAnException(NoLeaks noLeaks) {
            log.info("failed", new IllegalStateException(new IllegalArgumentException(NoLeaks.CANARY)));
        }

        @Test
        void logsTheCanaryShifted(NoLeaks noLeaks) {
            byte[] json = ("{\"password\":\"" + NoLeaks.CANARY + "\"}").getBytes(StandardCharsets.UTF_8);
            log.debug("read {}", Base64.getEncoder().encodeToString(json));
        }

        @Test
        void logsTheCanaryInCapitals(NoLeaks noLeaks) {
            log.debug("read {}", Ascii.toUpperCase(NoLeaks.CANARY));
        }

        @Test
        void logsTheCanarysBytes(NoLeaks noLeaks) {
            log.debug("read {}", Arrays.toString(("<" + NoLeaks.CANARY + ">").getBytes(StandardCharsets.UTF_8)));
        }

        @Test
        void logsTheCanaryAsContext(NoLeaks noLeaks) {
            MDC.put("object", NoLeaks.CANARY);
            log.info("read");
            MDC.clear();
        }

        @Test
        void logsTheCanarySuppressed(NoLeaks noLeaks) {
            IllegalStateException failure = new IllegalStateException();
            failure.addSuppressed(new IllegalArgumentException(NoLeaks.CANARY));
            log.info("failed", failure);
        }

        @Test
        void throwsTheCanaryInAThread(NoLeaks noLeaks) throws InterruptedException {
            Thread thrower = new Thread(
                    () -> {
                        throw new IllegalStateException(NoLeaks.CANARY);
                    },
                    "thrower");
            thrower.start();
            thrower.join();
        }

        @Test
        void namesAThreadAfterTheCanary(NoLeaks noLeaks) {
            Timekeeper named = Timekeeper.system();
            left.add(named);
            named.schedule(Duration.ZERO, () -> Thread.currentThread().setName(NoLeaks.CANARY));
            while (Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals(NoLeaks.CANARY))) {
                Thread.onSpinWait();
            }
        }

        @Test
        void seesTheCanary(NoLeaks noLeaks) {
            NoLeaks.saw(List.of(NoLeaks.CANARY));
        }

        @Test
        void seesTheCanaryAsACause(NoLeaks noLeaks) {
            NoLeaks.saw(new IllegalStateException(new IllegalArgumentException(NoLeaks.CANARY)));
        }

        @Test
        void seesWhatIsNoSecret(NoLeaks noLeaks) {
            NoLeaks.saw(new IllegalStateException("no canary here"));
        }

        @Test
        void modifiesAnObject(NoLeaks noLeaks) {
            Secret handedOut = secret();
            noLeaks.watchForMutation(handedOut);
            handedOut.getMetadata().getLabels().put("touched", "yes");
        }

        @Test
        void checkFails(NoLeaks noLeaks) {
            noLeaks.checkAfter(() -> {
                throw new AssertionError("a watch is open");
            });
        }

        private void awaitEnd() {
            try {
                ended.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @ExtendWith(NoLeaks.class)
    static final class Fields {

        private final Timekeeper timekeeper = Timekeeper.system();
        private final Timekeeper.Scheduled task = timekeeper.schedule(Duration.ofHours(1), () -> {});

        @Test
        void usesItsField(NoLeaks noLeaks) {
            left.add(timekeeper);
            task.cancel();
        }
    }

    private static Secret secret() {
        return new SecretBuilder()
                .withNewMetadata()
                .withName("db")
                .addToLabels("app", "shop")
                .endMetadata()
                .build();
    }
}
