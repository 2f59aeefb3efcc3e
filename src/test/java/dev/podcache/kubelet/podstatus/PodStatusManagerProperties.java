package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.FakeApiServer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

/**
 * After any sequence of changes, failed requests and lost answers, the server has the last status of each pod, and no
 * pod has the status of another.
 */
class PodStatusManagerProperties {

    private static final Duration LONGEST_PAUSE_AND_A_PASS = Duration.ofSeconds(25);
    private static final Pattern UID = Pattern.compile("\"metadata\":\\{\"uid\":\"([^\"]+)\"}");
    private static final Pattern SET = Pattern.compile("\"message\":\"(\\d+)\"");

    /** An action on one of two pods. */
    enum PodStep {
        SET,
        SET_TWICE,
        SET_SAME,
        TERMINATE,
        DELETE_GRACEFULLY,
        RECREATE,
        OVERWRITE,
        FAIL_GET,
        FAIL_PATCH,
        FAIL_DELETE,
        HOLD,
        RELEASE,
        WATCH,
        SYNC,
        SECONDS,
        FORGET
    }

    @Property
    void server_afterAnyTroubleHasEnded_hasTheLastStatusOfEachPod(
            @ForAll @Size(max = 40) List<PodStep> steps, @ForAll @Size(40) List<Boolean> firsts) {
        new Trial().run(steps, firsts);
    }

    private static final class Trial {

        private final PodStatusFixture world = new PodStatusFixture();
        private final Map<String, Integer> lastSet = new HashMap<>(); // by UID
        private final Set<String> ended = new HashSet<>(); // UIDs, like the following
        private final Set<String> askedToEnd = new HashSet<>();
        private final Set<String> removed = new HashSet<>(); // by the test itself
        private @Nullable HeldRequests held;
        private int sets;

        void run(List<PodStep> steps, List<Boolean> firsts) {
            world.create("cart", spec("Always", "c1"));
            world.create("till", spec("Always", "c1"));
            world.manager.start();

            for (int i = 0; i < steps.size(); i++) {
                happen(steps.get(i), firsts.get(i) ? "cart" : "till");
            }
            release();
            world.server.clearFailures();
            world.time.advance(LONGEST_PAUSE_AND_A_PASS);
            world.watchWhatIsThere();
            world.time.advance(LONGEST_PAUSE_AND_A_PASS);

            requireLast("cart");
            requireLast("till");
            requireNoForeignWrites();
            world.close();
        }

        private void happen(PodStep step, String name) {
            Pod pod = current(name);
            switch (step) {
                case SET -> set(pod);
                case SET_TWICE -> {
                    set(pod);
                    set(pod);
                }
                case SET_SAME ->
                    world.manager.getPodStatus(uid(pod)).ifPresent(last -> world.manager.setPodStatus(pod, last));
                case TERMINATE -> {
                    world.manager.terminatePod(pod);
                    ended.add(uid(pod));
                }
                case DELETE_GRACEFULLY -> {
                    if (isThere(pod)) {
                        askedToEnd.add(uid(pod));
                        world.server.cluster().delete(pod);
                        if (!isStored(pod)) {
                            removed.add(uid(pod));
                        }
                    }
                }
                case RECREATE -> {
                    if (isThere(pod)) {
                        removed.add(uid(pod));
                        world.server.cluster().deleteNow(pod);
                    }
                    world.create(name, spec("Always", "c1"));
                }
                case OVERWRITE -> {
                    if (isThere(pod)) {
                        world.server.cluster().updateStatus(Given.withStatus(world.stored(name), status("Unknown")));
                    }
                }
                case FAIL_GET -> fail(Verb.GET);
                case FAIL_PATCH -> fail(Verb.PATCH);
                case FAIL_DELETE -> fail(Verb.DELETE);
                case HOLD -> {
                    release();
                    held = world.server.faults().hold(RequestPattern.any().key(PodStatusFixture.key(name)));
                }
                case RELEASE -> release();
                case WATCH -> world.watchWhatIsThere();
                case SYNC -> world.sync();
                case SECONDS -> world.time.advance(Duration.ofSeconds(3));
                case FORGET -> {
                    Set<String> there = Set.of(uid(current("cart")), uid(current("till")));
                    world.known.keySet().stream()
                            .filter(each -> !there.contains(each))
                            .forEach(world.manager::forget);
                }
            }
        }

        /** Returns the newest known pod of this name. */
        private Pod current(String name) {
            return world.known.values().stream()
                    .filter(pod -> pod.getMetadata().getName().equals(name))
                    .reduce((older, newer) -> newer)
                    .orElseThrow();
        }

        private void set(Pod pod) {
            if (ended.contains(uid(pod))) {
                return;
            }
            PodStatus status = status("Running", running("c1"));
            status.setMessage(Integer.toString(++sets));
            lastSet.put(uid(pod), sets);
            world.manager.setPodStatus(pod, status);
        }

        private void fail(Verb verb) {
            world.server.failNext(
                    2,
                    PodStatusFixture.failure(FailureReason.UNAVAILABLE),
                    RequestPattern.any().verb(verb));
        }

        private void release() {
            if (held != null) {
                held.release();
                held = null;
            }
        }

        private boolean isStored(Pod pod) {
            try {
                return uid(world.stored(pod.getMetadata().getName())).equals(uid(pod));
            } catch (StatusException gone) {
                return false;
            }
        }

        /** Returns whether the server still has the pod. Otherwise, it had ended or the test removed it. */
        private boolean isThere(Pod pod) {
            boolean there = isStored(pod);
            if (!there && !removed.contains(uid(pod))) {
                assertThat(ended).as("pods of which nothing runs any more").contains(uid(pod));
                assertThat(askedToEnd).as("pods that were asked to end").contains(uid(pod));
            }
            return there;
        }

        private void requireLast(String name) {
            String uid = uid(current(name));
            if (!isThere(current(name))) {
                return;
            }
            Pod stored = world.stored(name);
            if (ended.contains(uid)) {
                assertThat(stored.getStatus().getPhase()).isEqualTo("Failed");
                assertThat(stored.getMetadata().getDeletionTimestamp()).isNull();
            } else if (lastSet.containsKey(uid)) {
                assertThat(stored.getStatus().getPhase()).isEqualTo("Running");
                assertThat(stored.getStatus().getMessage()).isEqualTo(Integer.toString(lastSet.get(uid)));
            }
        }

        /**
         * Checks that every patch has the UID of its pod, and that the patches of a pod are in the order of its
         * statuses.
         */
        private void requireNoForeignWrites() {
            Map<String, Integer> newest = new HashMap<>();
            for (FakeApiServer.Sent sent : world.server.sent()) {
                if (sent.verb() == Verb.PATCH) {
                    Matcher uid = UID.matcher(sent.body());
                    assertThat(uid.find()).isTrue();
                    assertThat(world.known).containsKey(uid.group(1));
                    Matcher message = SET.matcher(sent.body());
                    if (message.find()) {
                        int set = Integer.parseInt(message.group(1));
                        assertThat(newest.getOrDefault(uid.group(1), 0)).isLessThanOrEqualTo(set);
                        newest.put(uid.group(1), set);
                    }
                }
            }
            for (FakeApiServer.Action action : world.server.actions()) {
                assertThat(action.verb()).isIn(Verb.GET, Verb.PATCH, Verb.DELETE);
                if (action.verb() == Verb.DELETE) {
                    assertThat(world.known.values())
                            .as("pods that may be deleted")
                            .anyMatch(pod ->
                                    PodStatusFixture.key(pod.getMetadata().getName())
                                                    .equals(action.key())
                                            && ended.contains(uid(pod))
                                            && askedToEnd.contains(uid(pod)));
                }
            }
        }

        private static String uid(Pod pod) {
            return pod.getMetadata().getUid();
        }
    }
}
