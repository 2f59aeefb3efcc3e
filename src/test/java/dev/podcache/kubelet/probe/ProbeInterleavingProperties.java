package dev.podcache.kubelet.probe;

import static dev.podcache.kubelet.probe.ProbesFixture.container;
import static dev.podcache.kubelet.probe.ProbesFixture.key;
import static dev.podcache.kubelet.probe.ProbesFixture.pod;
import static dev.podcache.kubelet.probe.ProbesFixture.probe;
import static dev.podcache.kubelet.probe.ProbesFixture.running;
import static dev.podcache.kubelet.probe.ProbesFixture.terminated;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

/** Promises that hold in every order of checks, restarts and outcomes. */
class ProbeInterleavingProperties {

    /** What happens to a container with a readiness probe whose thresholds are 1. */
    enum ContainerStep {
        START_ANOTHER,
        END,
        TIME_PASSES,
        CHECK_SUCCEEDS,
        CHECK_FAILS,
        CHECK_HAS_AN_ERROR,
        REMOVE
    }

    /** A container and the model of its readiness. */
    private static final class ModelledContainer {

        private final ProbesFixture fixture = new ProbesFixture();
        private final Pod pod = pod(container("main", ProbeKind.READINESS, probe().build()));

        private @Nullable CompletableFuture<ProbeOutcome> pending;
        private int starts;
        private int checkedStart;
        private boolean running;
        private boolean removed;
        private boolean ready; // the model
        private boolean overlapped; // asserted outside, because the probes catch what a check throws

        private CompletableFuture<ProbeOutcome> begin() {
            overlapped |= pending != null;
            pending = new CompletableFuture<>();
            checkedStart = starts;
            return pending;
        }

        private void end(ProbeOutcome outcome) {
            CompletableFuture<ProbeOutcome> ended = pending;
            if (ended != null) {
                pending = null;
                int changes = fixture.changes.size();
                boolean before = ready;
                if (running && !removed && checkedStart == starts && outcome.verdict() != ProbeOutcome.Verdict.ERROR) {
                    ready = outcome.verdict() == ProbeOutcome.Verdict.SUCCESS;
                }
                ended.complete(outcome);
                assertThat(fixture.changes).hasSize(ready == before ? changes : changes + 1);
            }
        }

        private void apply(ContainerStep step) {
            switch (step) {
                case START_ANOTHER -> {
                    starts++;
                    running = true;
                    ready = false;
                    fixture.observe(pod, running("main", "test://" + starts));
                }
                case END -> {
                    if (starts > 0) {
                        running = false;
                        ready = false;
                        fixture.observe(pod, terminated("main", "test://" + starts));
                    }
                }
                case TIME_PASSES -> fixture.time.advance(Duration.ofMillis(700));
                case CHECK_SUCCEEDS -> end(ProbeOutcome.success(""));
                case CHECK_FAILS -> end(ProbeOutcome.failure("no"));
                case CHECK_HAS_AN_ERROR -> end(ProbeOutcome.error("no runtime"));
                case REMOVE -> {
                    removed = true;
                    fixture.probes.remove(key(pod));
                }
            }
        }
    }

    @Property(tries = 300)
    void readiness_followsTheChecksOfTheCurrentContainer(@ForAll @Size(min = 5, max = 60) List<ContainerStep> steps) {
        ModelledContainer container = new ModelledContainer();
        ProbesFixture fixture = container.fixture;
        fixture.next = container::begin;
        fixture.probes.add(container.pod);

        for (ContainerStep step : steps) {
            // a removal ends the test of most promises, so it comes late
            if (step != ContainerStep.REMOVE || fixture.checked.size() > 3) {
                container.apply(step);
            }
            assertThat(container.overlapped)
                    .as("a check overlaps with the previous one")
                    .isFalse();

            if (container.removed) {
                assertThat(fixture.time.scheduledTasks()).isZero();
            } else {
                assertThat(fixture.probes.ready(key(container.pod), "main", "test://" + container.starts))
                        .isEqualTo(container.ready);
                assertThat(fixture.time.scheduledTasks())
                        .as("one timer while a check is due, and none otherwise")
                        .isEqualTo(container.running && container.pending == null ? 1 : 0);
            }
        }
    }
}
