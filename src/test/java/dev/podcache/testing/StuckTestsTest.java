package dev.podcache.testing;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

@NullUnmarked
class StuckTestsTest {

    /** Ends what hangs. */
    private static CompletableFuture<Void> ended;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final AtomicInteger ends = new AtomicInteger();

    /** Ignores that its time limit interrupts it. */
    static class IgnoresInterrupts {
        @Test
        @Timeout(value = 1, unit = TimeUnit.MILLISECONDS)
        void joins() {
            ended.join();
        }
    }

    /** Has no limit of its own. */
    static class EndsAtOnce {
        @Test
        void ends() {}
    }

    @BeforeEach
    void setUp() {
        ended = new CompletableFuture<>();
    }

    @Test
    void execution_testIgnoresItsInterrupt_namesItAndEndsTheJvm() {
        run(IgnoresInterrupts.class);

        assertThat(ends).hasValue(1);
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .startsWith(IgnoresInterrupts.class.getName()
                        + ".joins joins() did not end at its time limit. This JVM ends now. Its threads:")
                .contains("\"" + Thread.currentThread().getName()
                        + "\" WAITING on java.util.concurrent.CompletableFuture")
                .contains(IgnoresInterrupts.class.getName() + ".joins(");
    }

    @Test
    void execution_testsEnd_watcherEndsAndSaysNothing() {
        Set<Thread> before = watchers();

        run(EndsAtOnce.class);

        await().untilAsserted(() -> assertThat(watchers()).isEqualTo(before));
        assertThat(ends).hasValue(0);
        assertThat(printed.size()).isZero();
    }

    /** Among them is the one that watches this test. */
    private static Set<Thread> watchers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("junit-stuck-tests"))
                .collect(Collectors.toSet());
    }

    private void run(Class<?> tests) {
        // a cold JVM takes so long from the beginning of the test to where it is stuck
        StuckTests watched =
                new StuckTests(Duration.ofSeconds(1), new PrintStream(printed, true, StandardCharsets.UTF_8), () -> {
                    ends.incrementAndGet();
                    ended.complete(null);
                });
        LauncherFactory.create(LauncherConfig.builder()
                        .enableTestExecutionListenerAutoRegistration(false)
                        .build())
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(tests))
                                .build(),
                        watched);
    }
}
