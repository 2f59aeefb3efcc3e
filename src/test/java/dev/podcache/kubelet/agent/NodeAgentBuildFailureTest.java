package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.testing.FailingTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.TaskThreads;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An agent that cannot be built leaves no watch, no timer and no thread behind, whichever step fails. */
@ExtendWith(NoLeaks.class)
class NodeAgentBuildFailureTest {

    @RegisterExtension
    final AgentFixture fixture = new AgentFixture();

    @Test
    void build_anyUseOfTheTimeThrows_noWatchAndNoTimerIsLeft(NoLeaks leaks) {
        // a loop that had the throw survives it, and says so
        leaks.allowWarnings("Node " + AgentFixture.NODE);
        leaks.allowWarnings("metadata.name=" + AgentFixture.NODE);
        FailingTimekeeper failing = new FailingTimekeeper(fixture.timekeeper);
        fixture.agentTime = failing;
        int thrown = 0;
        boolean failed = true;
        for (int nth = 1; failed; nth++) {
            failing.throwAt(nth);
            failed = fails();
            failing.throwNoMore();
            if (failed) {
                thrown++;
                requireNothingLeft("a throw at call " + nth);
            }
        }
        assertThat(thrown).as("steps that threw").isGreaterThan(2);
    }

    private boolean fails() {
        try {
            fixture.agent(UnaryOperator.identity());
            return false;
        } catch (IllegalStateException e) {
            assertThat(e).hasMessage(FailingTimekeeper.MESSAGE);
            return true;
        }
    }

    @Test
    void build_functionOfTheCallerThrows_noWatchAndNoTimerIsLeft() {
        requireFails(options -> options.runtime(time -> {
            throw broken();
        }));
        requireFails(options -> options.reads(caches -> {
            throw broken();
        }));
        requireFails(options -> options.threadsOf((limit, time) -> {
            throw broken();
        }));
    }

    /** {@link NoLeaks} looks for them. Idle ones would end after ten seconds. */
    @Test
    void build_laterStepThrows_theThreadsEnd() {
        requireFails(options -> {
            options.threadsOf((limit, time) -> {
                TaskThreads threads = TaskThreads.named("podcache-pod", limit, time);
                threads.execute(() -> {});
                return threads;
            });
            return options.reads(caches -> {
                throw broken();
            });
        });
    }

    private void requireFails(UnaryOperator<NodeAgentBuilder> options) {
        assertThatIllegalStateException()
                .isThrownBy(() -> fixture.agent(options))
                .withMessage("broken");
        requireNothingLeft("a throw");
    }

    private void requireNothingLeft(String after) {
        assertThat(fixture.server.openWatches()).as("watches after %s", after).isZero();
        assertThat(fixture.timekeeper.scheduledTasks())
                .as("timers after %s", after)
                .isZero();
    }

    private static IllegalStateException broken() {
        return new IllegalStateException("broken");
    }
}
