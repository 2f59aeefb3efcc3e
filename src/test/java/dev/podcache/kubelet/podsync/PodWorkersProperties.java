package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static dev.podcache.kubelet.podsync.WorkersFixture.withEnvFrom;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/**
 * Pods in any order of assignments, changes, deletions, crashes, failures, slow calls and restarts of the agent, which
 * also happen during the calls of the runtime. {@link ModelRuntime} checks the calls.
 */
@Slow
class PodWorkersProperties {

    private static final String[] POLICIES = {"Always", "OnFailure", "Never"};

    /** What happens. */
    enum WorkersStep {
        ASSIGN,
        UPDATE,
        CHANGE_IMAGE,
        DELETE,
        DELETE_NOW,
        CRASH,
        COMPLETE,
        RUN_ONE_SYNC,
        RUN_ALL_SYNCS,
        TIME_PASSES,
        MUCH_TIME_PASSES,
        LIST_AGAIN,
        NEXT_CALL_FAILS,
        RESTART_AGENT,
        DELETE_WHILE_THE_AGENT_IS_AWAY
    }

    /** A step, and the pod that it is about. */
    record Event(WorkersStep step, int pod, int stepsDuringTheNextCall) {}

    @Provide
    Arbitrary<List<Event>> events() {
        return Combinators.combine(
                        Arbitraries.of(WorkersStep.values()),
                        Arbitraries.integers().between(0, 2),
                        Arbitraries.integers().between(0, 3))
                .as(Event::new)
                .list()
                .ofMaxSize(40);
    }

    /** Runs one task at a time, each on a thread of its own, because a sync may be interrupted. */
    private static final class TakingTurns implements Executor {

        private final Queue<Runnable> waiting = new ArrayDeque<>();

        @Override
        public void execute(Runnable task) {
            if (task instanceof FutureTask) {
                // a part of a sync, which waits for it
                run(task);
            } else {
                waiting.add(task);
            }
        }

        boolean runOne() {
            Runnable task = waiting.poll();
            if (task != null) {
                run(task);
            }
            return task != null;
        }

        private static void run(Runnable task) {
            Thread thread = new Thread(task);
            thread.start();
            Uninterruptibles.joinUninterruptibly(thread);
        }
    }

    private static final class Model {

        private final ManualTimekeeper time = new ManualTimekeeper();
        private final ModelRuntime runtime = new ModelRuntime();
        private TakingTurns threads = new TakingTurns();
        private WorkersFixture node;
        private final WorkersFixture first; // owns the server
        private final Queue<Event> events;
        private final Map<String, Integer> restarts = new HashMap<>();
        private int stepsDuringTheNextCall;
        private boolean nextCallFails;
        private int depth;

        Model(List<Event> events) {
            this.events = new ArrayDeque<>(events);
            WorkersFixture.Options options = WorkersFixture.Options.DEFAULT.on(task -> threads.execute(task), 2);
            first = new WorkersFixture(options, time, runtime);
            node = first;
            node.reported = this::checkReport;
            runtime.meanwhile = this::duringCall;
            runtime.fails = this::takeFailure;
            for (int i = 0; i < 3; i++) {
                node.secret("s" + i, "v");
            }
            node.start();
        }

        private boolean takeFailure() {
            boolean fails = nextCallFails;
            nextCallFails = false;
            return fails;
        }

        /** Takes the next events while a call of the runtime runs. */
        private void duringCall() {
            int steps = stepsDuringTheNextCall;
            stepsDuringTheNextCall = 0;
            depth++;
            for (int i = 0; i < steps && !events.isEmpty(); i++) {
                perform(events.remove());
            }
            depth--;
        }

        private void checkReport(Pod pod, PodStatus status) {
            for (ContainerStatus container : status.getContainerStatuses()) {
                String key = pod.getMetadata().getUid() + "/" + container.getName();
                int before = restarts.getOrDefault(key, 0);
                if (container.getRestartCount() < before) {
                    runtime.broken.add(key + " had " + before + " restarts, and now " + container);
                }
                restarts.put(key, container.getRestartCount());
            }
        }

        private @Nullable Pod current(int pod) {
            return node.exists("p" + pod) ? node.server.cluster().get(Pod.class, "shop", "p" + pod) : null;
        }

        void runEvents() {
            while (!events.isEmpty()) {
                perform(events.remove());
            }
        }

        private void perform(Event event) {
            stepsDuringTheNextCall = event.stepsDuringTheNextCall;
            Pod pod = current(event.pod);
            switch (event.step) {
                case ASSIGN -> assign(event.pod, pod);
                case UPDATE -> update(pod, "nginx");
                case CHANGE_IMAGE -> update(pod, "nginx:2");
                case DELETE -> delete(pod, false);
                case DELETE_NOW -> delete(pod, true);
                case CRASH -> end(pod, 1);
                case COMPLETE -> end(pod, 0);
                case RUN_ONE_SYNC -> threads.runOne();
                case RUN_ALL_SYNCS -> runAll();
                case TIME_PASSES -> time.advance(Duration.ofSeconds(1));
                case MUCH_TIME_PASSES -> time.advance(Duration.ofSeconds(45));
                case LIST_AGAIN -> node.assigned.replace(listed(), "1");
                case NEXT_CALL_FAILS -> nextCallFails = true;
                case RESTART_AGENT -> restart(null);
                case DELETE_WHILE_THE_AGENT_IS_AWAY -> restart(pod);
                default -> throw new AssertionError(event);
            }
        }

        private void assign(int number, @Nullable Pod existing) {
            if (existing == null) {
                PodBuilder pod = withEnvFrom(pod("p" + number), "s" + number)
                        .editSpec()
                        .withRestartPolicy(POLICIES[number])
                        .addNewInitContainer()
                        .withName("init")
                        .endInitContainer()
                        .addNewInitContainer()
                        .withName("sidecar")
                        .withRestartPolicy("Always")
                        .endInitContainer()
                        .endSpec();
                node.server.cluster().create(pod.build());
            }
        }

        private void update(@Nullable Pod pod, String image) {
            if (pod != null) {
                node.server
                        .cluster()
                        .update(new PodBuilder(pod)
                                .editSpec()
                                .editFirstContainer()
                                .withImage(image)
                                .endContainer()
                                .endSpec()
                                .build());
            }
        }

        private void delete(@Nullable Pod pod, boolean now) {
            if (pod != null) {
                runtime.deleted(pod);
                if (now) {
                    node.server.cluster().deleteNow(pod);
                } else {
                    node.server.cluster().delete(pod);
                }
            }
        }

        private void end(@Nullable Pod pod, int exitCode) {
            if (pod != null) {
                runtime.end(PodReferences.key(pod), "main", exitCode);
            }
        }

        private List<Fetched<Pod>> listed() {
            List<Fetched<Pod>> listed = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Pod pod = current(i);
                if (pod != null) {
                    listed.add(new Fetched<>(pod, pod.getMetadata().getResourceVersion(), 0));
                }
            }
            return listed;
        }

        /** Only between syncs: a process does not end in the middle of a call and live on. */
        private void restart(@Nullable Pod deleted) {
            if (depth > 0) {
                return;
            }
            node.end();
            threads = new TakingTurns();
            delete(deleted, true);
            WorkersFixture next = node.successorWithThisRuntime();
            next.reported = this::checkReport;
            node = next;
            next.start();
        }

        private void runAll() {
            // nested in a call, that call's own sync cannot end before
            for (int i = 0; i < 100 && threads.runOne(); i++) {
                time.advance(Duration.ZERO);
            }
        }

        void settle() {
            stepsDuringTheNextCall = 0;
            nextCallFails = false;
            for (int i = 0; i < 50; i++) {
                runAll();
                time.advance(Duration.ofSeconds(30));
            }
            runAll();
        }

        void checkThatPodsRunAndAreRegistered() {
            for (int i = 0; i < 3; i++) {
                Pod pod = current(i);
                boolean lives = pod != null && !PodEnd.isDue(pod);
                if (pod != null && lives) {
                    assertThat(pod.getStatus().getPhase()).as("phase of p%s", i).isEqualTo("Running");
                    assertThat(runtime.isRunning(PodReferences.key(pod), "main"))
                            .as("main of p%s runs", i)
                            .isTrue();
                    checkRestarts(pod);
                }
                if (pod == null || lives) {
                    assertThat(isRegistered(i)).as("p%s is registered", i).isEqualTo(lives);
                }
            }
        }

        private void checkRestarts(Pod pod) {
            int restarts = pod.getStatus().getContainerStatuses().get(0).getRestartCount();
            int starts = runtime.starts(PodReferences.key(pod), "main");
            assertThat(restarts).as("restarts").isEqualTo(starts - 1);
        }

        private boolean isRegistered(int pod) {
            return node.secrets
                    .getObjectAsync("shop", "s" + pod)
                    .handle((secret, failure) -> !(failure instanceof ObjectUnavailableException.NotRegistered))
                    .getNow(true);
        }

        void deleteAll() {
            for (int i = 0; i < 3; i++) {
                delete(current(i), false);
            }
        }

        void checkThatNothingIsLeft() {
            assertThat(runtime.broken).isEmpty();
            assertThat(listed()).isEmpty();
            assertThat(runtime.pods()).isEmpty();
            assertThat(node.known.all()).isEmpty();
            for (int i = 0; i < 3; i++) {
                assertThat(isRegistered(i)).as("p%s is registered", i).isFalse();
            }
        }

        void close() {
            node.end();
            first.close();
        }
    }

    @Property(tries = 150)
    @ExpectedWarnings("the runtime is busy")
    void podsEndAsTheirSpecsSay_whateverHappens(@ForAll("events") List<Event> events) {
        Model model = new Model(events);
        try {
            model.runEvents();
            model.settle();
            model.checkThatPodsRunAndAreRegistered();
            model.deleteAll();
            model.settle();
            model.checkThatNothingIsLeft();
        } finally {
            model.close();
        }
    }
}
