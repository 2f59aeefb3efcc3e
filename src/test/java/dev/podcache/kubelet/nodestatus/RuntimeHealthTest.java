package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.Service;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class RuntimeHealthTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private Supplier<RuntimeStatus> runtime = () -> RuntimeStatus.ready("1");
    private int queries;

    private RuntimeHealth health(Map<String, Supplier<Optional<String>>> checks, Executor threads) {
        return new RuntimeHealth(
                () -> {
                    queries++;
                    return runtime.get();
                },
                checks,
                threads,
                time);
    }

    private RuntimeHealth health() {
        return health(Map.of(), Runnable::run);
    }

    private static RuntimeStatus failed() {
        throw new IllegalStateException("no connection");
    }

    private static RuntimeStatus notReady(String runtime, String network) {
        return new RuntimeStatus("1", Optional.of(runtime), Optional.of(network));
    }

    @Test
    void errors_neverQueried_areUnknown() {
        RuntimeHealth health = health();
        assertThat(health.runtimeErrors()).containsExactly("container runtime status check may not have completed yet");
        assertThat(health.networkErrors()).containsExactly("network state unknown");
    }

    @Test
    void start_goodAnswer_isRunningWithoutErrors() {
        RuntimeHealth health = health();
        health.startAsync().awaitRunning();
        assertThat(health.runtimeErrors()).isEmpty();
        assertThat(health.networkErrors()).isEmpty();
        health.stopAsync().awaitTerminated();
    }

    @Test
    void errors_notReady_areThoseOfTheRuntime() {
        runtime = () -> notReady("RuntimeReady=false", "NetworkReady=false");
        RuntimeHealth health = health();
        health.startAsync();
        assertThat(health.runtimeErrors())
                .containsExactly(
                        "container runtime status check may not have completed yet",
                        "container runtime not ready: RuntimeReady=false");
        assertThat(health.networkErrors()).containsExactly("container runtime network not ready: NetworkReady=false");
    }

    @Test
    void tick_everyFiveSeconds_queriesAgain() {
        RuntimeHealth health = health();
        health.startAsync();
        runtime = () -> notReady("r", "n");
        time.advance(Duration.ofMillis(4999));
        assertThat(health.networkErrors()).isEmpty();
        time.advance(Duration.ofMillis(1));
        assertThat(health.networkErrors()).isNotEmpty();
        assertThat(queries).isEqualTo(2);
    }

    @Test
    void errors_networkOnly_runtimeIsReady() {
        runtime = () -> new RuntimeStatus("1", Optional.empty(), Optional.of("n"));
        RuntimeHealth health = health();
        health.startAsync();
        assertThat(health.runtimeErrors()).isEmpty();
        assertThat(health.networkErrors()).containsExactly("container runtime network not ready: n");
    }

    @Test
    @ExpectedWarnings("query of the container runtime's status failed")
    void errors_queriesFail_isDownAfterThirtySecondsAndReadyAfterAnAnswer() {
        RuntimeHealth health = health();
        health.startAsync();
        runtime = RuntimeHealthTest::failed;
        time.advance(Duration.ofMillis(29_999));
        assertThat(health.runtimeErrors()).isEmpty();
        time.advance(Duration.ofMillis(1));
        assertThat(health.runtimeErrors()).containsExactly("container runtime is down");
        assertThat(health.networkErrors()).isEmpty();
        runtime = () -> RuntimeStatus.ready("1");
        time.advance(Duration.ofSeconds(5));
        assertThat(health.runtimeErrors()).isEmpty();
    }

    @SuppressWarnings("NullAway") // as a runtime that is not checked for nulls
    private static RuntimeStatus nullStatus() {
        return null;
    }

    @Test
    @ExpectedWarnings("PodRuntime.health() returned null instead of a RuntimeStatus")
    void errors_answerIsNullAfterAGoodOne_nameTheMethodAtOnceUntilAnAnswer() {
        RuntimeHealth health = health();
        int[] changes = {0};
        health.startAsync();
        health.onChange(() -> changes[0]++);
        runtime = RuntimeHealthTest::nullStatus;
        time.advance(Duration.ofSeconds(5));
        assertThat(health.runtimeErrors())
                .containsExactly(
                        "container runtime not ready: PodRuntime.health() returned null instead of a RuntimeStatus");
        assertThat(health.version()).isEqualTo("1");
        assertThat(changes[0]).isEqualTo(1);
        runtime = () -> RuntimeStatus.ready("2");
        time.advance(Duration.ofSeconds(5));
        assertThat(health.runtimeErrors()).isEmpty();
    }

    @Test
    void errors_notReadyForLong_areBoth() {
        RuntimeHealth health = health();
        health.startAsync();
        runtime = () -> notReady("r", "n");
        time.advance(Duration.ofSeconds(30));
        assertThat(health.runtimeErrors())
                .containsExactly("container runtime is down", "container runtime not ready: r");
    }

    @Test
    void errors_furtherChecks_areNamedAndMayThrow() {
        RuntimeHealth health = health(
                ImmutableMap.of(
                        "PLEG", () -> Optional.of("pleg was last seen active 3m ago"),
                        "well", Optional::empty,
                        "broken",
                                () -> {
                                    throw new IllegalStateException("foo");
                                }),
                Runnable::run);
        health.startAsync();
        assertThat(health.runtimeErrors())
                .containsExactly(
                        "PLEG is not healthy: pleg was last seen active 3m ago",
                        "broken is not healthy: java.lang.IllegalStateException: foo");
    }

    @Test
    void start_runtimeHangs_isRunningAfterFiveSecondsAndNotQueriedTwice() {
        Queue<Runnable> hanging = new ArrayDeque<>();
        RuntimeHealth health = health(Map.of(), hanging::add);
        health.startAsync();
        assertThat(health.state()).isEqualTo(Service.State.STARTING);
        time.advance(Duration.ofSeconds(35));
        assertThat(health.state()).isEqualTo(Service.State.RUNNING);
        assertThat(hanging).hasSize(1);
        assertThat(health.runtimeErrors())
                .isEqualTo(List.of("container runtime status check may not have completed yet"));
        hanging.remove().run();
        assertThat(health.runtimeErrors()).isEmpty();
        time.advance(Duration.ofSeconds(5));
        assertThat(hanging).hasSize(1);
    }

    @Test
    void stop_running_queriesNoMore() {
        RuntimeHealth health = health();
        health.startAsync().awaitRunning();
        health.stopAsync().awaitTerminated();
        time.advance(Duration.ofMinutes(1));
        assertThat(queries).isEqualTo(1);
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void onChange_answerDiffersOrNoneComes_isToldOnce() {
        RuntimeHealth health = health();
        int[] changes = {0};
        health.onChange(() -> changes[0]++);
        health.startAsync();
        assertThat(changes[0]).isEqualTo(1);
        time.advance(Duration.ofMinutes(1));
        assertThat(changes[0]).isEqualTo(1);

        runtime = () -> notReady("r", "n");
        time.advance(Duration.ofSeconds(5));
        assertThat(changes[0]).isEqualTo(2);
        time.advance(Duration.ofSeconds(29));
        assertThat(health.runtimeErrors()).hasSize(2);
    }

    @Test
    @ExpectedWarnings("query of the container runtime's status failed")
    void onChange_noGoodAnswerForThirtySeconds_isTold() {
        RuntimeHealth health = health();
        int[] changes = {0};
        health.startAsync();
        health.onChange(() -> changes[0]++);

        runtime = RuntimeHealthTest::failed;
        time.advance(Duration.ofSeconds(30));

        assertThat(changes[0]).isEqualTo(1);
        assertThat(health.runtimeErrors()).containsExactly("container runtime is down");
    }

    @Test
    void query_whileAnotherRuns_followsIt() {
        Queue<Runnable> threads = new ArrayDeque<>();
        RuntimeHealth health = health(Map.of(), threads::add);
        health.startAsync();
        threads.remove().run();
        runtime = () -> {
            health.query();
            runtime = () -> notReady("changed meanwhile", "");
            return RuntimeStatus.ready("1");
        };

        health.query();
        threads.remove().run();
        assertThat(health.runtimeErrors()).isEmpty();
        threads.remove().run();

        assertThat(health.runtimeErrors()).containsExactly("container runtime not ready: changed meanwhile");
        assertThat(threads).isEmpty();
    }

    @Test
    @ExpectedWarnings("query of the container runtime's status failed: java.lang.NoClassDefFoundError")
    void query_error_isRepeated() {
        runtime = () -> {
            throw new NoClassDefFoundError("for the test");
        };
        RuntimeHealth health = health();
        health.startAsync().awaitRunning();
        runtime = () -> RuntimeStatus.ready("1");

        time.advance(Duration.ofSeconds(5));

        assertThat(health.runtimeErrors()).isEmpty();
    }
}
