package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.Phase;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A watch store and its server, and beside them a model that says what a get may bring. For one thread. */
final class WatchWorld {

    /** What decides what a get of one object may bring. */
    private static final class Model {
        final Map<PodKey, Integer> references = new HashMap<>();
        boolean known; // whether the object, or its absence, was seen in this epoch
        long seenVersion;

        int count() {
            return references.values().stream().mapToInt(Integer::intValue).sum();
        }

        void forget() {
            known = false;
            seenVersion = 0;
        }
    }

    private final WatchFixture f = new WatchFixture(ManualTimekeeper.passingWhileWaiting(), PodcacheMetrics.NONE);
    private final Map<ObjectKey, Model> models = new HashMap<>();
    private int written;

    void addReference(ObjectKey key, PodKey pod) {
        String before = f.store.state(key).freshness();
        boolean newEpoch = before.startsWith("watch closed")
                || before.startsWith("immutable")
                || before.startsWith("watch being opened again");
        f.store.addReference(key, pod);
        model(key).references.merge(pod, 1, Integer::sum);
        if (newEpoch) {
            model(key).forget();
        }
    }

    void deleteReference(ObjectKey key, PodKey pod) {
        f.store.deleteReference(key, pod);
        model(key).references.computeIfPresent(pod, (p, count) -> count == 1 ? null : count - 1);
        if (model(key).count() == 0) {
            model(key).forget();
        }
    }

    void write(ObjectKey key, boolean immutable) {
        written++;
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
        f.fail(verb, times, reason, 0);
    }

    void resetWatches() {
        f.server.resetWatches();
    }

    void forgetHistory() {
        f.server.forgetHistory();
    }

    void get(ObjectKey key) {
        Model model = model(key);
        try {
            Secret got = f.store.get(key.namespace(), key.name());
            assertThat(model.count()).as("P6: references of " + key).isPositive();
            long version = Long.parseLong(got.getMetadata().getResourceVersion());
            assertThat(version).as("P2: version of " + key).isGreaterThanOrEqualTo(model.seenVersion);
            model.seenVersion = version;
            model.known = true;
            requireLatestIfLive(key, got);
        } catch (NotRegistered e) {
            assertThat(model.count()).as("P6: references of " + key).isZero();
        } catch (NotFound e) {
            assertThat(model.count()).isPositive();
            model.known = true;
            requireLatestIfLive(key, null);
        } catch (NotSynced e) {
            assertThat(model.known)
                    .as("P4: a failure took away what was known of %s", key)
                    .isFalse();
        }
    }

    private void requireLatestIfLive(ObjectKey key, @Nullable Secret got) {
        if (!f.store.state(key).freshness().equals("watched")) {
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
        for (Map.Entry<ObjectKey, Model> known : models.entrySet()) {
            ObjectState state = f.store.state(known.getKey());
            assertThat(state.references()).isEqualTo(known.getValue().count());
            if (known.getValue().count() > 0) {
                held++;
            }
            if (state.phase() == Phase.STALE && state.freshness().startsWith("watch lost")) {
                assertThat(state.lastFailure()).as("P9: stale, so it says why").isNotNull();
            }
        }
        assertThat((long) f.store.size()).as("P5: entries").isEqualTo(held);
        assertThat((long) f.server.openWatches()).as("P5: watches").isLessThanOrEqualTo(held);
    }

    /**
     * Ends the faults, checks that every object is what the server has, takes back every reference
     * and checks that nothing is left.
     */
    void end() {
        f.server.clearFailures();
        f.timekeeper.advance(Duration.ofSeconds(31));
        models.forEach((key, model) -> {
            if (model.count() > 0 && !f.store.state(key).freshness().startsWith("immutable")) {
                get(key);
                assertThat(f.store.state(key).freshness()).as("P7: " + key).matches("watched|immutable.*");
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

    private Model model(ObjectKey key) {
        return models.computeIfAbsent(key, k -> new Model());
    }

    private @Nullable Secret atServer(ObjectKey key) {
        try {
            return f.server.cluster().get(Secret.class, key.namespace(), key.name());
        } catch (StatusException absent) {
            return null;
        }
    }
}
