package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Reads the members of a live {@link NamespaceWatch} that no list of the namespace covers: each by a list that selects
 * its name. Such a list is a quorum read, needs no verb that the watch does not need, and has a version even if the
 * object is absent. At most 16 reads are in flight; after a failure, the next reads wait for a pause. Used in steps of
 * the watch only.
 */
final class MemberReads<T extends HasMetadata> {

    private static final int MOST = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Retries RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(30));

    private final NamespaceWatch<T> watch;
    private final WatchObjectStore<T> store;
    private final Executor steps;
    private final Deque<NamespaceMember<T>> waiting = new ArrayDeque<>(2);
    private int round = 1; // a loss of the watch ends a round
    private int inFlight; // of this round
    private int failures;
    private Timekeeper.@Nullable Scheduled pause;

    MemberReads(NamespaceWatch<T> watch, WatchObjectStore<T> store, Executor steps) {
        this.watch = watch;
        this.store = store;
        this.steps = steps;
    }

    /** Reads a member, unless it was added in this round before. */
    void add(NamespaceMember<T> member) {
        if (member.beginsReadIn(round)) {
            waiting.add(member);
            readNext();
        }
    }

    /** Ends the round: answers to reads in flight are ignored. */
    void stop() {
        round++;
        inFlight = 0;
        failures = 0;
        waiting.clear();
        endPause();
    }

    private void endPause() {
        if (pause != null) {
            pause.cancel();
            pause = null;
        }
    }

    private void readNext() {
        while (pause == null && inFlight < MOST && !waiting.isEmpty()) {
            NamespaceMember<T> member = waiting.remove();
            if (!member.isOver()) {
                read(member);
            }
        }
    }

    private void read(NamespaceMember<T> member) {
        int begunIn = round;
        inFlight++;
        store.byName
                .apply(member.entry.key)
                .list(TIMEOUT)
                .whenComplete((listed, thrown) -> steps.execute(() -> {
                    if (round == begunIn) {
                        inFlight--;
                        ended(member, listed, thrown);
                    }
                }));
    }

    private void ended(NamespaceMember<T> member, @Nullable Listed<T> listed, @Nullable Throwable thrown) {
        if (listed != null) {
            failures = 0;
            watch.tell(member, each -> each.read(itemOf(each.entry.key, listed), listed.resourceVersion()));
        } else if (thrown != null) {
            failed(member, NoAnswer.because("LIST " + store.kind + " " + member.entry.key, "the server", thrown));
        }
        readNext();
    }

    private @Nullable Fetched<T> itemOf(ObjectKey key, Listed<T> listed) {
        for (Fetched<T> item : listed.items()) {
            if (key.name().equals(watch.nameOf(item))) {
                return item;
            }
        }
        return null;
    }

    private void failed(NamespaceMember<T> member, ApiServerException failure) {
        if (failure.reason() == FailureReason.FORBIDDEN) {
            watch.refused(failure);
            return;
        }
        again(member, failure);
        watch.tell(member, each -> each.failed(failure));
    }

    /** Reads a member again after a pause. */
    void again(NamespaceMember<T> member, @Nullable ApiServerException failure) {
        failures++;
        waiting.add(member);
        if (pause == null) {
            Duration length =
                    RETRIES.pause(failures, ThreadLocalRandom.current().nextDouble(), failure);
            pause = store.options.timekeeper().schedule(length, () -> steps.execute(this::goOn));
        }
    }

    private void goOn() {
        pause = null;
        readNext();
    }
}
