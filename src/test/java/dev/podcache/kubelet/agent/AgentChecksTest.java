package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.kubelet.server.HealthCheck;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testkit.FakePodcache;
import dev.podcache.time.TaskThreads;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the checks and counters of an agent notice. */
@ExtendWith(NoLeaks.class)
class AgentChecksTest {

    private final ManualTimekeeper clock = new ManualTimekeeper();

    @AfterEach
    void close() {
        clock.close();
    }

    private static Optional<String> problem(List<HealthCheck> checks) {
        return checks.get(0).problem().get();
    }

    @Test
    void loop_ticksOrIsLateByLessThanTheLimit_lives_andThenNot() {
        long start = clock.nanoTime();
        List<HealthCheck> live = new AgentChecks(clock)
                .eviction(() -> Duration.ofNanos(clock.nanoTime() - start))
                .live();

        assertThat(problem(live)).isEmpty();
        clock.advance(AgentChecks.LIMIT);
        assertThat(problem(live)).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        assertThat(problem(live)).contains("no run for 301 s; at most 300 s are expected");
    }

    @Test
    void workers_tasksRun_live() {
        List<HealthCheck> live = new AgentChecks(clock)
                .workers(TaskThreads.on(Runnable::run, 1, clock))
                .live();

        for (int i = 0; i < 3; i++) {
            assertThat(problem(live)).isEmpty();
            clock.advance(Duration.ofHours(1));
        }
    }

    @Test
    void workers_aTaskNeverRuns_areDeadAfterTheLimit_andAliveOnceItDoes() {
        Deque<Runnable> tasks = new ArrayDeque<>();
        List<HealthCheck> live = new AgentChecks(clock)
                .workers(TaskThreads.on(tasks::add, 1, clock))
                .live();

        assertThat(problem(live)).isEmpty();
        clock.advance(AgentChecks.LIMIT);
        assertThat(problem(live)).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        assertThat(problem(live)).contains("a task waits for 301 s");
        assertThat(tasks).hasSize(1);

        tasks.remove().run();
        assertThat(problem(live)).isEmpty();
    }

    @Test
    void objects_forbiddenForAMinute_areNamed_untilTheyCanBeRead(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        try (FakePodcache cache = new FakePodcache()) {
            cache.put(Secrets.of("shop", "db", NoLeaks.CANARY));
            cache.registerPod(Pods.withSecrets("shop", "web", "uid-web", List.of("db", "other", "third")));
            cache.secrets().getObject("shop", "db");
            cache.put(Secrets.of("shop", "third", "v"));
            cache.secrets().getObject("shop", "third");
            StuckObjects stuck = new StuckObjects(cache::entries, clock);
            assertThat(stuck.problem()).isEmpty();
            forbid(cache, "other");

            assertThat(stuck.problem()).isEmpty();
            clock.advance(StuckObjects.GRACE.minusSeconds(1));
            assertThat(stuck.problem()).isEmpty();
            clock.advance(Duration.ofSeconds(1));
            assertThat(stuck.problem())
                    .hasValueSatisfying(text -> assertThat(text)
                            .startsWith("Secret shop/other cannot be read: ")
                            .contains("the test says so"));

            forbid(cache, "third");
            assertThat(stuck.problem()).isPresent();
            clock.advance(StuckObjects.GRACE);
            assertThat(stuck.problem())
                    .hasValueSatisfying(text -> assertThat(text)
                            .startsWith("2 objects cannot be read, such as Secret shop/")
                            .contains("the test says so")
                            .endsWith("; /debug/objects shows all"));

            for (String name : List.of("other", "third")) {
                cache.put(Secrets.of("shop", name, "v"));
                cache.secrets().getObject("shop", name);
            }
            assertThat(stuck.problem()).isEmpty();
        }
    }

    private static void forbid(FakePodcache cache, String secret) {
        cache.fail(ObjectKind.SECRET, "shop", secret, FailureReason.FORBIDDEN);
        await().until(() -> {
            // throws unless the object is known
            Throwable unused = catchThrowable(() -> cache.secrets().getObject("shop", secret));
            return cache.entries().stream()
                    .anyMatch(entry -> entry.key().name().equals(secret)
                            && entry.lastFailure().isPresent());
        });
    }

    @Test
    void writes_areCountedByOutcome() {
        WriteCounter counter = new WriteCounter();
        counter.counted(CompletableFuture.completedFuture("answer"));
        counter.counted(CompletableFuture.failedFuture(
                new ApiServerException(FailureReason.CONFLICT, 409, null, "for the test", null)));
        counter.counted(CompletableFuture.failedFuture(new IllegalStateException("for the test")));

        Map<String, Long> counts = counter.byOutcome();

        assertThat(counts)
                .containsEntry("succeeded", 1L)
                .containsEntry("conflict", 1L)
                .containsEntry("rejected", 1L);
        assertThat(counts).hasSize(1 + FailureReason.values().length);
        assertThat(counts.values().stream().mapToLong(count -> count).sum()).isEqualTo(3);
    }
}
