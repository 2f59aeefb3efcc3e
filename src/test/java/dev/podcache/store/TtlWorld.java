package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.embedded.StatusException;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A TTL store and its server, and beside them a model that says what a get may bring. The model knows what the store
 * must know from the answers on their way to it, and never asks it. For one thread.
 */
final class TtlWorld {

    /** What decides what a get of one object may bring. */
    private static final class TtlModel {
        final Map<PodKey, Integer> references = new HashMap<>();
        boolean answered; // since the last new reference, like all that follows

        @Nullable
        Secret present; // null if the answer was that there is none

        long answeredAt;
        int failures; // in a row
        long failedAt;
        boolean refused; // by the last of them

        int count() {
            return references.values().stream().mapToInt(Integer::intValue).sum();
        }

        void forget() {
            answered = false;
            present = null;
            failures = 0;
        }

        boolean isAbsent() {
            return answered && present == null;
        }
    }

    private final Duration maxStaleness;
    private final TtlFixture f;
    private final Map<ObjectKey, TtlModel> models = new HashMap<>();
    private boolean lagging;
    private int written;

    /** With background refresh up to that much, or zero for none. */
    TtlWorld(Duration maxStaleness) {
        ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
        this.maxStaleness = maxStaleness;
        this.f = new TtlFixture(
                timekeeper, StoreOptions.defaults(timekeeper).backgroundRefresh(maxStaleness), this::listening);
    }

    private ObjectGetter<Secret> listening(ObjectGetter<Secret> server) {
        return (key, source, timeout) -> server.get(key, source, timeout)
                .whenComplete((fetched, failure) -> heard(key, source, fetched, failure));
    }

    private void heard(
            ObjectKey key, ReadSource source, @Nullable Fetched<Secret> fetched, @Nullable Throwable thrown) {
        TtlModel model = model(key);
        if (fetched != null) {
            boolean older = model.present != null && versionOf(fetched.object()) < versionOf(model.present);
            // what is older may come from a server that lags: the QUORUM read that must follow decides
            if (source == ReadSource.QUORUM || !older) {
                answer(model, fetched.object());
            }
        } else if (ApiServerException.causeOf(thrown) instanceof ApiServerException failure
                && failure.reason() == FailureReason.NOT_FOUND) {
            if (source == ReadSource.QUORUM) {
                answer(model, null);
            }
        } else {
            model.failures++;
            model.failedAt = f.timekeeper.nanoTime();
            model.refused =
                    ((ApiServerException) ApiServerException.causeOf(thrown)).reason() == FailureReason.FORBIDDEN;
        }
    }

    private void answer(TtlModel model, @Nullable Secret said) {
        model.answered = true;
        model.present = said;
        model.answeredAt = f.timekeeper.nanoTime();
        model.failures = 0;
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
        f.timekeeper.advance(TtlFixture.TICK);
    }

    void get(ObjectKey key) {
        TtlModel model = model(key);
        Secret known = model.present;
        boolean absent = model.isAbsent();
        boolean failed = model.failures > 0;
        boolean fresh = isFresh(model);
        boolean bearable = known != null && !fresh && f.ttl.ttlNanos() > 0 && age(model) < bearableUntil();
        long tooSoon = model.failedAt + shortestPause(model) - f.timekeeper.nanoTime();
        long age = age(model);
        int requests = f.server.gets(key);
        try {
            Secret got = f.store.get(key.namespace(), key.name());
            requests = f.server.gets(key) - requests;
            assertThat(model.count()).as("P6: references of " + key).isPositive();
            if (known == null) {
                requireLatest(key, got);
            } else if (fresh || requests == 0) {
                assertThat(got).as("%s without a request", key).isEqualTo(known);
                assertThat(requests).as("P3: requests for a fresh object").isZero();
                assertThat(fresh || failed || bearable || age < f.ttl.ttlNanos() + TtlFixture.TICK.toNanos())
                        .as("%s is served without a request at the age of %s ns", key, age)
                        .isTrue();
            } else {
                assertThat(requests).as("P3: a refresh and its check").isLessThanOrEqualTo(2);
                assertThat(failed && tooSoon > 0)
                        .as("P3: a refresh %s ns too soon after one that failed", tooSoon)
                        .isFalse();
                // behind a get that does not wait for it, else before it
                assertThat(got)
                        .as("%s with a request", key)
                        .isEqualTo(bearable || failed ? known : latestKnown(model, known));
                requireLatestUnlessLagging(key, got, bearable || failed || model.failures > 0);
            }
            boolean due = bearable
                    && !failed
                    && age >= bearableUntil() - maxStaleness.toNanos() / 2 + TtlFixture.TICK.toNanos();
            assertThat(due && requests == 0)
                    .as("B7: no request behind a get that is due for one")
                    .isFalse();
        } catch (NotRegistered e) {
            assertThat(model.count()).as("P6: references of " + key).isZero();
            assertThat(f.server.gets(key)).isEqualTo(requests);
        } catch (NotFound e) {
            assertThat(fresh || bearable)
                    .as("P4: %s was known, yet NotFound", key)
                    .isFalse();
            assertThat((model.isAbsent() && atServer(key) == null) || (absent && (failed || e.getCause() != null)))
                    .as("P4: %s exists, yet NotFound", key)
                    .isTrue();
        } catch (FetchFailed e) {
            assertThat(known)
                    .as("P4: a failure took away what was known of %s", key)
                    .isNull();
            assertThat(absent)
                    .as("P4: a failure took away that %s is absent", key)
                    .isFalse();
        }
    }

    private boolean isFresh(TtlModel model) {
        return model.present != null && age(model) < f.ttl.ttlNanos();
    }

    private long age(TtlModel model) {
        return f.timekeeper.nanoTime() - model.answeredAt;
    }

    private long bearableUntil() {
        return f.ttl.ttlNanos() + maxStaleness.toNanos();
    }

    /** After so many failures in a row; half of 1 s that doubles up to 30 s, and one fewer counts after a refusal. */
    private static long shortestPause(TtlModel model) {
        int counted = Math.max(1, model.refused ? model.failures - 1 : model.failures);
        return Duration.ofSeconds(Math.min(30, 1L << Math.min(5, counted - 1))).toNanos() / 2;
    }

    /** What is known after a refresh: what it brought, or what was known if it failed. */
    private static Secret latestKnown(TtlModel model, Secret known) {
        return model.present == null ? known : model.present;
    }

    private void requireLatest(ObjectKey key, Secret got) {
        assertThat(got).as("P1: the first answer of " + key).isEqualTo(atServer(key));
    }

    private void requireLatestUnlessLagging(ObjectKey key, Secret got, boolean failed) {
        if (!failed && !lagging) {
            assertThat(got).as("refreshed " + key).isEqualTo(atServer(key));
        }
    }

    private static long versionOf(Secret secret) {
        return Long.parseLong(secret.getMetadata().getResourceVersion());
    }

    /** What must hold at any time. */
    void check() {
        long held = 0;
        for (Map.Entry<ObjectKey, TtlModel> known : models.entrySet()) {
            int count = known.getValue().count();
            ObjectState state = f.store.state(known.getKey());
            assertThat(state.references())
                    .as("P6: references of " + known.getKey())
                    .isEqualTo(count);
            held += count > 0 ? 1 : 0;
            requireShown(known.getValue(), state);
        }
        assertThat((long) f.store.size()).as("P5: entries").isEqualTo(held);
    }

    private void requireShown(TtlModel model, ObjectState state) {
        CacheState cacheState = model.answered ? CacheState.ABSENT : CacheState.UNREAD;
        if (model.present != null) {
            cacheState = isFresh(model) ? CacheState.FRESH : CacheState.STALE;
        }
        assertThat(state.cacheState()).isEqualTo(cacheState);
        assertThat(state.age()).isEqualTo(model.answered ? Duration.ofNanos(age(model)) : null);
        assertThat(state.lastFailure() != null).as("shows a failure").isEqualTo(model.failures > 0);
        assertThat(state.resourceVersion())
                .isEqualTo(
                        model.present == null ? "" : model.present.getMetadata().getResourceVersion());
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

    private TtlModel model(ObjectKey key) {
        return models.computeIfAbsent(key, k -> new TtlModel());
    }

    private @Nullable Secret atServer(ObjectKey key) {
        try {
            return f.server.cluster().get(Secret.class, key.namespace(), key.name());
        } catch (StatusException absent) {
            return null;
        }
    }
}
