package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A watch store and its server, and beside them a model that says what a get may bring. The model knows from the server,
 * and from its answers and events on their way to the store, what the store must know, and never asks it. For one
 * thread.
 */
final class WatchWorld {

    /** The fixture's: no object is idle that was read in the last minute. */
    private static final Duration SOONEST_IDLE = Duration.ofMinutes(1);

    /** What decides what a get of one object may bring. */
    private static final class WatchModel implements HeardServer.Doubts {
        final Map<PodKey, Integer> references = new HashMap<>();
        boolean known; // whether the object, or its absence, was seen in this epoch
        long atLeast; // no get may bring an older version
        long usedAt; // when the store last had reason to think that somebody reads the object
        boolean mayBeImmutable; // whether the server had an immutable one in this epoch
        boolean isImmutable; // of the last one that a get brought
        boolean synced; // whether a watch was accepted after a list, in this epoch
        boolean doubtful; // whether a request failed, and nothing has confirmed what is known since then
        boolean maybeConfirmed; // whether something may have confirmed it, of which the model does not know
        boolean joined; // whether a reference was added to the watch, as far as the model knows

        /** It may be older than a reference that has joined the watch, which goes on then and is in doubt as before. */
        @Override
        public void immutable() {
            if (joined) {
                maybeConfirmed = true;
            } else {
                confirmed();
            }
        }

        @Override
        public void failed(boolean maybeReplaced) {
            doubtful = true;
            maybeConfirmed = maybeReplaced;
        }

        @Override
        public void confirmed() {
            doubtful = false;
            maybeConfirmed = false;
        }

        @Override
        public void synced() {
            synced = true;
        }

        /** Begins a new epoch, in which nothing is known. */
        void begin() {
            synced = false;
            confirmed();
        }

        int count() {
            return references.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    private final Map<ObjectKey, WatchModel> models = new HashMap<>();
    private final WatchFixture f = new WatchFixture(
            ManualTimekeeper.passingWhileWaiting(), (key, server) -> new HeardServer(server, model(key)));
    private int written;

    WatchWorld(boolean streamsLists) {
        f.server.setStreamsLists(streamsLists);
    }

    void addReference(ObjectKey key, PodKey pod) {
        WatchModel model = model(key);
        boolean first = model.count() == 0;
        boolean watched = f.server.isWatched(key);
        boolean ended = model.known && model.isImmutable && !model.joined;
        boolean closed = !watched && (ended || (model.synced && !model.doubtful));
        boolean broken = !first && model.synced && model.doubtful;
        boolean unsure = broken && model.maybeConfirmed;
        long lists = lists(key);
        Secret then = atServer(key);
        long now = Long.parseLong(f.server
                .cluster()
                .list(Resource.SECRETS, Selection.everything(), "")
                .resourceVersion());
        if (model.synced && !broken && !watched) {
            model.begin();
        }
        f.store.addReference(key, pod);
        model.references.merge(pod, 1, Integer::sum);
        boolean listed = lists(key) > lists;
        if (watched && !first && !broken) {
            assertThat(listed)
                    .as("P1: joining the live watch of %s is a request", key)
                    .isFalse();
        }
        // a watch that was opened for what is in doubt may have brought nothing yet: then what is known is from the one
        // before
        model.joined = !first && (broken || !listed || !model.synced);
        if (first || closed) {
            assertThat(listed)
                    .as("P1: registration of " + key + " opens its watch")
                    .isTrue();
        }
        if (unsure) {
            model.known = false;
            model.mayBeImmutable |= then != null && Boolean.TRUE.equals(then.getImmutable());
        } else if (broken) {
            // gets may fall back to what was known
            model.usedAt = f.timekeeper.nanoTime();
        } else if (listed) {
            model.known = false;
            model.isImmutable = false;
            model.mayBeImmutable = then != null && Boolean.TRUE.equals(then.getImmutable());
            model.usedAt = f.timekeeper.nanoTime();
            model.atLeast = Math.max(model.atLeast, then == null ? now + 1 : versionOf(then));
        }
    }

    /** How many lists of that object there were, plain or streamed. */
    private long lists(ObjectKey key) {
        return f.server.actions().stream()
                .filter(action -> action.key().equals(key)
                        && (action.verb() == Verb.LIST || (action.verb() == Verb.WATCH && action.source() != null)))
                .count();
    }

    void deleteReference(ObjectKey key, PodKey pod) {
        f.store.deleteReference(key, pod);
        model(key).references.computeIfPresent(pod, (p, count) -> count == 1 ? null : count - 1);
        if (model(key).count() == 0) {
            model(key).known = false;
            model(key).begin();
        }
    }

    void write(ObjectKey key, boolean immutable) {
        written++;
        model(key).mayBeImmutable |= immutable;
        Secret secret = immutable ? Secrets.immutable(key, "v" + written) : Secrets.of(key, "v" + written);
        Secret old = atServer(key);
        if (old == null) {
            f.server.cluster().create(secret);
        } else if (!Boolean.TRUE.equals(old.getImmutable())) {
            f.server.cluster().update(secret);
        }
    }

    void delete(ObjectKey key) {
        if (atServer(key) != null) {
            f.delete(key);
        }
    }

    void passTime(Duration duration) {
        f.timekeeper.advance(duration);
    }

    void fail(Verb verb, int times, FailureReason reason) {
        // with an HTTP code: without one, the server may seem unreachable, and a registration waits for its turn
        f.fail(verb, times, reason, 500);
    }

    void resetWatches() {
        f.server.resetWatches();
    }

    void forgetHistory() {
        f.server.forgetHistory();
    }

    void get(ObjectKey key) {
        WatchModel model = model(key);
        try {
            Secret got = f.store.get(key.namespace(), key.name());
            assertThat(model.count()).as("P6: references of " + key).isPositive();
            assertThat(versionOf(got)).as("P1, P2: version of " + key).isGreaterThanOrEqualTo(model.atLeast);
            model.atLeast = versionOf(got);
            model.isImmutable = Boolean.TRUE.equals(got.getImmutable());
            answered(model, key, got);
        } catch (NotRegistered e) {
            assertThat(model.count()).as("P6: references of " + key).isZero();
        } catch (NotFound e) {
            assertThat(model.count()).isPositive();
            model.isImmutable = false;
            answered(model, key, null);
        } catch (NotSynced e) {
            assertThat(model.known)
                    .as("P4: a failure took away what was known of %s", key)
                    .isFalse();
        }
    }

    private void answered(WatchModel model, ObjectKey key, @Nullable Secret got) {
        model.known = true;
        model.usedAt = f.timekeeper.nanoTime();
        if (!f.server.isWatched(key)) {
            return;
        }
        // events of this server come at once: what is watched is what is there
        Secret latest = atServer(key);
        assertThat(got == null ? "absent" : got.getMetadata().getResourceVersion())
                .as("what is watched, of " + key)
                .isEqualTo(latest == null ? "absent" : latest.getMetadata().getResourceVersion());
    }

    /** What must hold at any time. */
    void check() {
        long held = 0;
        for (Map.Entry<ObjectKey, WatchModel> known : models.entrySet()) {
            ObjectState state = f.store.state(known.getKey());
            assertThat(state.references()).isEqualTo(known.getValue().count());
            if (known.getValue().count() > 0) {
                held++;
            }
            requireShown(known.getKey(), known.getValue(), state);
        }
        assertThat((long) f.store.size()).as("P5: entries").isEqualTo(held);
        assertThat((long) f.server.openWatches()).as("P5: watches").isLessThanOrEqualTo(held);
    }

    private void requireShown(ObjectKey key, WatchModel model, ObjectState state) {
        if (state.cacheState() == CacheState.FRESH && !model.mayBeImmutable) {
            assertThat(f.server.isWatched(key))
                    .as("P9: %s is FRESH, so it is watched", key)
                    .isTrue();
        }
        boolean idle = f.timekeeper.nanoTime() - model.usedAt >= SOONEST_IDLE.toNanos();
        if (state.cacheState() == CacheState.STALE && !idle) {
            assertThat(state.lastFailure()).as("P9: stale, so it says why").isNotNull();
        }
    }

    /**
     * Ends the faults, checks that every object is what the server has, takes back every reference
     * and checks that nothing is left.
     */
    void end() {
        f.server.clearFailures();
        f.timekeeper.advance(Duration.ofSeconds(31));
        models.forEach((key, model) -> {
            if (model.count() > 0) {
                get(key);
                assertThat(model.isImmutable || f.server.isWatched(key))
                        .as("P7: %s is watched again", key)
                        .isTrue();
            }
        });
        models.forEach((key, model) -> model.references.forEach((pod, count) -> {
            for (int i = 0; i < count; i++) {
                f.store.deleteReference(key, pod);
            }
        }));
        f.requireNothingHeld();
        f.store.close();
        f.server.close();
    }

    private WatchModel model(ObjectKey key) {
        return models.computeIfAbsent(key, k -> new WatchModel());
    }

    private static long versionOf(Secret secret) {
        return Long.parseLong(secret.getMetadata().getResourceVersion());
    }

    private @Nullable Secret atServer(ObjectKey key) {
        try {
            return f.server.cluster().get(Secret.class, key.namespace(), key.name());
        } catch (StatusException absent) {
            return null;
        }
    }
}
