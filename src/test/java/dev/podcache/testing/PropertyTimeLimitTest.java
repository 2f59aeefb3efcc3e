package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

class PropertyTimeLimitTest {

    private static final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private static final PrintStream console = new PrintStream(printed, true, StandardCharsets.UTF_8);

    /** Long enough for a cold JVM to come to the body of a property. */
    static final class SecondOfTime extends PropertyTimeLimit {
        SecondOfTime() {
            super(Duration.ofSeconds(1), Duration.ofMinutes(1), console);
        }
    }

    /** A property that blocks for ever. */
    @AddLifecycleHook(SecondOfTime.class)
    static class Stuck {
        @Property(seed = "42")
        void waits(@ForAll int number) throws InterruptedException {
            new CountDownLatch(1).await();
        }
    }

    /** A property whose tries end, but which never stops. */
    @AddLifecycleHook(SecondOfTime.class)
    static class Endless {
        @Property(tries = Integer.MAX_VALUE)
        void triesOn(@ForAll int number) {
            Thread.onSpinWait();
        }
    }

    static final class NoShrinking extends PropertyTimeLimit {
        NoShrinking() {
            super(Duration.ofMinutes(1), Duration.ZERO, console);
        }
    }

    /** A property that fails at once, and whose examples can be made smaller. */
    static class Failing {
        static final List<Thread> TRIED = new CopyOnWriteArrayList<>();

        @Property(seed = "42", edgeCases = EdgeCasesMode.NONE)
        void fails(@ForAll @Size(value = 20) List<Integer> numbers) {
            TRIED.add(Thread.currentThread());
            throw new IllegalStateException("for the test");
        }
    }

    @AddLifecycleHook(NoShrinking.class)
    static class FailingOnce extends Failing {}

    static class Quick {
        @Property
        void holds(@ForAll int number) {
            Thread.onSpinWait();
        }
    }

    @Test
    void property_stuckInATry_failsWithSeedArgumentsAndStack() {
        String failure = failureOf(Stuck.class);

        assertThat(failure)
                .contains("PropertyTimeLimitTest$Stuck.waits took longer than PT1S; seed = 42, arguments [")
                .contains("java.util.concurrent.CountDownLatch.await");
    }

    @Test
    void property_stuckInATry_tellsTheSeedBeforeItEnds() {
        printed.reset();

        failureOf(Stuck.class);

        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("Stuck.waits took longer")
                .contains("seed = 42");
    }

    @Test
    void property_triesWithoutEnd_failsAndLeavesNoInterrupt() {
        assertThat(failureOf(Endless.class)).contains("took longer than PT1S");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void property_fails_isShrunkByTheThreadThatRunsIt() {
        Failing.TRIED.clear();

        assertThat(failureOf(Failing.class)).contains("for the test");

        assertThat(Failing.TRIED).hasSizeGreaterThan(1).containsOnly(Thread.currentThread());
    }

    @Test
    void property_failsAndTheTimeToShrinkIsOver_isNotTriedAgain() {
        Failing.TRIED.clear();

        assertThat(failureOf(FailingOnce.class)).contains("for the test");

        assertThat(Failing.TRIED).hasSize(1);
    }

    @Test
    void property_endsInTime_passes() {
        EngineTestKit.engine("jqwik")
                .configurationParameter("jqwik.database", "")
                .selectors(selectClass(Quick.class))
                .execute()
                .testEvents()
                .assertStatistics(events -> events.succeeded(1).failed(0));
    }

    private static String failureOf(Class<?> properties) {
        List<Event> failed = EngineTestKit.engine("jqwik")
                // junit-platform.properties, which says how jqwik shrinks
                .enableImplicitConfigurationParameters(true)
                .configurationParameter("jqwik.database", "")
                .selectors(selectClass(properties))
                .execute()
                .testEvents()
                .failed()
                .list();
        assertThat(failed).hasSize(1);
        return failed.get(0)
                .getRequiredPayload(TestExecutionResult.class)
                .getThrowable()
                .orElseThrow()
                .toString();
    }
}
