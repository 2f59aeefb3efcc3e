package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.StatusException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Phase;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A TTL store and its server, and beside them a model that says what a get may bring. For one thread. */
final class TtlWorld {

    /** What decides what a get of one object may bring. */
    private static final class Model {
        final Map<PodKey, Integer> references = new HashMap<>();
        boolean answered; // since the last new reference

        @Nullable
        String seen; // since then, and not gone since

        long seenVersion;
        boolean freshSince; // whether `seen` is what the answer at `answeredAt` said
        long answeredAt;

        int count() {
            return references.values().stream().mapToInt(Integer::intValue).sum();
        }

        void forget() {
            answered = false;
            seen = null;
            freshSince = false;
        }
    }

    private final Duration maxStaleness;
    private final TtlFixture f;
    private final Map<ObjectKey, Model> models = new HashMap<>();
    private boolean lagging;
    private int written;

    /** With background refresh up to that much, or zero for none. */
    TtlWorld(Duration maxStaleness) {
        ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
        this.maxStaleness = maxStaleness;
        this.f = new TtlFixture(timekeeper, StoreOptions.defaults(timekeeper).backgroundRefresh(maxStaleness));
    }

    void addReference(ObjectKey key, PodKey pod) {
        f.server.forbidCallsOnThisThread(() -> f.store.addReference(key, pod));
        model(key).references.merge(pod, 1, Integer::sum);
        model(key).forget();
    }

    void deleteReference(ObjectKey key, PodKey pod) {
        f.server.forbidCallsOnThisThread(() -> f.store.deleteReference(key, pod));
        model(key).references.computeIfPresent(pod, (p, count) -> count == 1 ? null : count - 1);
        if (model(key).count() == 0) {
            model(key).forget();
        }
    }

    void write(ObjectKey key) {
        written++;
        if (atServer(key) == null) {
            f.create(key, "v" + written);
        } else {
            f.update(key, "v" + written);
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

    void fail(int times, FailureReason reason, @Nullable Duration retryAfter) {
        f.failNext(times, reason, 0, retryAfter);
    }

    void lag(boolean on) {
        if (on && !lagging) {
            f.server.cluster().holdWatchCache();
        } else if (!on && lagging) {
            f.server.cluster().releaseWatchCache();
        }
        lagging = on;
    }

    void changeTtl(Duration ttl) {
        f.ttl.set(ttl);
        // from then on at the latest it counts
        f.timekeeper.advance(FreshnessClock.TICK);
    }

    void get(ObjectKey key) {
        Model model = model(key);
        ObjectState before = f.store.state(key);
        boolean bearable = isBearable(before);
        boolean behind = bearable || (before.lastFailure() != null && before.phase() != Phase.UNREAD);
        boolean fresh = model.freshSince && f.timekeeper.nanoTime() - model.answeredAt < f.ttl.ttlNanos();
        int requests = f.server.gets(key);
        try {
            Secret got = f.store.get(key.namespace(), key.name());
            requests = f.server.gets(key) - requests;
            assertThat(model.count()).as("P6: references of " + key).isPositive();
            if (fresh) {
                assertThat(requests).as("P3: requests for a fresh object").isZero();
                assertThat(Secrets.value(got)).isEqualTo(model.seen);
            } else if (bearable) {
                servedBehind(key, before, got, requests);
                brought(key, model, got, true, requests);
            } else {
                brought(key, model, got, behind, requests);
            }
        } catch (NotRegistered e) {
            assertThat(model.count()).as("P6: references of " + key).isZero();
            assertThat(f.server.gets(key)).isEqualTo(requests);
        } catch (NotFound e) {
            assertThat(bearable).as("P4: %s was known, yet NotFound", key).isFalse();
            boolean knownAbsent = before.phase() == Phase.ABSENT && e.getCause() != null;
            assertThat(atServer(key) == null || knownAbsent)
                    .as("P4: %s exists, yet NotFound", key)
                    .isTrue();
            model.forget();
            model.answered = true;
        } catch (FetchFailed e) {
            assertThat(model.seen)
                    .as("P4: a failure took away what was known of %s", key)
                    .isNull();
        }
    }

    /** Whether an object is stale, but so little that no get waits for its refresh. */
    private boolean isBearable(ObjectState state) {
        return state.phase() == Phase.STALE
                && f.ttl.ttlNanos() > 0
                && state.age() != null
                && state.age().toNanos() < f.ttl.ttlNanos() + maxStaleness.toNanos();
    }

    private void servedBehind(ObjectKey key, ObjectState before, Secret got, int requests) {
        assertThat(got.getMetadata().getResourceVersion())
                .as("B7: %s is served as it was known", key)
                .isEqualTo(before.resourceVersion());
        boolean leewayIsOver = before.age() != null
                && before.age().toNanos()
                        >= f.ttl.ttlNanos() + maxStaleness.toNanos() / 2 + FreshnessClock.TICK.toNanos();
        if (leewayIsOver && before.lastFailure() == null) {
            assertThat(requests)
                    .as("B7: requests behind a get that is due for one")
                    .isPositive();
        }
    }

    private void brought(ObjectKey key, Model model, Secret got, boolean behind, int requests) {
        long version = Long.parseLong(got.getMetadata().getResourceVersion());
        Secret latest = atServer(key);
        if (!model.answered) {
            assertThat(latest)
                    .as("P1: %s was deleted before it was referred to", key)
                    .isNotNull();
            assertThat(got.getMetadata().getResourceVersion())
                    .as("P1: the first answer after a new reference")
                    .isEqualTo(latest == null ? "" : latest.getMetadata().getResourceVersion());
        }
        if (model.seen != null) {
            assertThat(version).as("P2: version of " + key).isGreaterThanOrEqualTo(model.seenVersion);
            assertThat(requests).as("P3: a refresh and its check").isLessThanOrEqualTo(2);
        }
        boolean answered = !behind && requests > 0 && f.store.state(key).lastFailure() == null;
        if (answered && !lagging) {
            assertThat(latest).isNotNull();
            assertThat(Secrets.value(got)).isEqualTo(latest == null ? "" : Secrets.value(latest));
        }
        if (requests == 0 && !behind && model.freshSince) {
            assertThat(f.timekeeper.nanoTime() - model.answeredAt)
                    .as("age of what was served without a request")
                    .isLessThan(f.ttl.ttlNanos() + FreshnessClock.TICK.toNanos());
        }
        model.answered = true;
        model.seen = Secrets.value(got);
        model.seenVersion = version;
        if (answered) {
            model.freshSince = true;
            model.answeredAt = f.timekeeper.nanoTime();
        } else if (behind) {
            // a refresh behind the gets may have brought something newer than what was returned
            model.freshSince = false;
        }
    }

    /** What must hold at any time. */
    void check() {
        long held = 0;
        for (Map.Entry<ObjectKey, Model> known : models.entrySet()) {
            int count = known.getValue().count();
            assertThat(f.store.state(known.getKey()).references())
                    .as("P6: references of " + known.getKey())
                    .isEqualTo(count);
            held += count > 0 ? 1 : 0;
        }
        assertThat((long) f.store.size()).as("P5: entries").isEqualTo(held);
    }

    /** Takes back every reference, checks that nothing is left, and ends. */
    void end() {
        models.forEach((key, model) -> model.references.forEach((pod, count) -> {
            for (int i = 0; i < count; i++) {
                f.store.deleteReference(key, pod);
            }
        }));
        assertThat(f.store.size()).as("P5: entries").isZero();
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
