package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A store that watches namespaces and its server, and beside them a model that says what a get may bring, and hears what
 * the server answers. For one thread. The events of the server come at once, so what is watched is what is there.
 */
final class ScopeWorld {

    /** The fixture's: no object is idle that was read in the last minute. */
    private static final Duration SOONEST_IDLE = Duration.ofMinutes(1);

    /** What decides what a get of one object may bring; of a namespace, only whether its members are in doubt. */
    private static final class ScopeModel implements HeardServer.Doubts {
        final Map<PodKey, Integer> references = new HashMap<>();
        private final boolean ofNamespace;
        boolean known; // whether a get was answered in this epoch
        long atLeast; // no get may bring an older version
        boolean mayBeImmutable; // whether the server had an immutable one since the last reference that began anew
        boolean isImmutable; // of the last one that a get brought
        long usedAt; // when it was last read, or a reference began anew
        boolean doubtful; // whether a request failed, and nothing has confirmed what is known since then
        boolean joined; // whether a reference may have been added to the watch, which then goes on for an immutable
        // object

        @Override
        public void failed(boolean maybeReplaced) {
            doubtful = true;
        }

        @Override
        public void confirmed() {
            doubtful = false;
        }

        ScopeModel(boolean ofNamespace) {
            this.ofNamespace = ofNamespace;
        }

        /** Confirms the one object, and not the others that its namespace has. */
        @Override
        public void immutable() {
            if (!ofNamespace && !joined) {
                confirmed();
            }
        }

        @Override
        public void synced() {
            // a get says so
        }

        int count() {
            return references.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    private final Map<ObjectKey, ScopeModel> models = new HashMap<>();
    private final Map<String, ScopeModel> namespaces = new HashMap<>();
    final WatchFixture f = WatchFixture.ofNamespaces(
            ManualTimekeeper.passingWhileWaiting(),
            (key, server) -> new HeardServer(server, key.name().isEmpty() ? namespace(key.namespace()) : model(key)));
    private final List<HeldRequests> held = new ArrayList<>();
    private boolean everRefused;
    private int written;

    void addReference(ObjectKey key, PodKey pod) {
        ScopeModel model = model(key);
        boolean first = model.count() == 0;
        boolean doubtful =
                model.doubtful || (!f.server.isWatched(key) && namespace(key.namespace()).doubtful) || !held.isEmpty();
        // what is in doubt, or not known yet, may be answered by what began before
        boolean begins = first || (model.known && model.isImmutable && !model.joined);
        boolean latest = begins || (model.known && !doubtful);
        boolean forgets =
                begins || model.mayBeImmutable || f.timekeeper.nanoTime() - model.usedAt >= SOONEST_IDLE.toNanos();
        Secret then = atServer(key);
        f.store.addReference(key, pod);
        model.references.merge(pod, 1, Integer::sum);
        model.joined = !begins;
        if (begins) {
            model.mayBeImmutable = then != null && Boolean.TRUE.equals(then.getImmutable());
            model.usedAt = f.timekeeper.nanoTime();
        }
        if (forgets) {
            model.known = false;
        }
        if (latest) {
            model.atLeast = Math.max(model.atLeast, then == null ? serverVersion() + 1 : versionOf(then));
        }
    }

    void deleteReference(ObjectKey key, PodKey pod) {
        f.store.deleteReference(key, pod);
        model(key).references.computeIfPresent(pod, (p, count) -> count == 1 ? null : count - 1);
        if (model(key).count() == 0) {
            model(key).known = false;
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

    void fail(Verb verb, int times, FailureReason reason) {
        everRefused |= reason == FailureReason.FORBIDDEN;
        // with an HTTP code: without one, the server may seem unreachable, and a registration waits for its turn
        f.fail(verb, times, reason, reason == FailureReason.FORBIDDEN ? 403 : 500);
    }

    /** Holds the answer to the next list of a namespace, or of one object by its name. */
    void holdNextList(ObjectKey key) {
        held.add(f.server
                .faults()
                .holdNext(1, RequestPattern.any().verb(Verb.LIST).key(key)));
    }

    void releaseLists() {
        held.forEach(HeldRequests::release);
        held.clear();
    }

    void get(ObjectKey key) {
        ScopeModel model = model(key);
        try {
            Secret got = f.store.get(key.namespace(), key.name());
            assertThat(model.count()).as("P6: references of " + key).isPositive();
            assertThat(versionOf(got)).as("P1, P2: version of " + key).isGreaterThanOrEqualTo(model.atLeast);
            model.atLeast = versionOf(got);
            model.isImmutable = Boolean.TRUE.equals(got.getImmutable());
            model.known = true;
            model.usedAt = f.timekeeper.nanoTime();
        } catch (NotRegistered e) {
            assertThat(model.count()).as("P6: references of " + key).isZero();
        } catch (NotFound e) {
            assertThat(model.count()).isPositive();
            model.isImmutable = false;
            model.known = true;
            model.usedAt = f.timekeeper.nanoTime();
        } catch (NotSynced e) {
            assertThat(model.known)
                    .as("P4: a failure took away what was known of %s", key)
                    .isFalse();
        }
    }

    /** What must hold at any time. */
    void check() {
        int referenced = 0;
        for (Map.Entry<ObjectKey, ScopeModel> each : models.entrySet()) {
            ObjectState state = f.store.state(each.getKey());
            assertThat(state.references()).isEqualTo(each.getValue().count());
            referenced += each.getValue().count() > 0 ? 1 : 0;
            if (state.freshness().startsWith("watched")) {
                Secret there = atServer(each.getKey());
                assertThat(state.resourceVersion())
                        .as("P9: %s is watched, so it is what the server has", each.getKey())
                        .isEqualTo(there == null ? "" : there.getMetadata().getResourceVersion());
            }
            if (state.cacheState() == CacheState.FRESH && !each.getValue().mayBeImmutable) {
                assertThat(state.freshness()).as("P9: FRESH").startsWith("watched");
            }
        }
        assertThat(f.store.size()).as("P5: entries").isEqualTo(referenced);
        long watched = models.entrySet().stream()
                .filter(each -> each.getValue().count() > 0)
                .map(each -> each.getKey().namespace())
                .distinct()
                .count();
        assertThat((long) f.server.openWatches())
                .as("P5: watches")
                .isLessThanOrEqualTo(everRefused ? referenced : watched);
    }

    /** Ends the faults; then every object is what the server has, and without references nothing is left. */
    void end() {
        f.server.clearFailures();
        f.server.faults().clear();
        releaseLists();
        f.timekeeper.advance(Duration.ofSeconds(35));
        models.forEach((key, model) -> {
            if (model.count() > 0) {
                get(key);
                Secret there = atServer(key);
                ObjectState state = f.store.state(key);
                assertThat(state.freshness()).as("P7: %s", key).containsAnyOf("watched", "immutable");
                if (!model.mayBeImmutable) {
                    assertThat(state.resourceVersion())
                            .as("P7: %s", key)
                            .isEqualTo(there == null ? "" : there.getMetadata().getResourceVersion());
                }
            }
        });
        check();
        models.forEach((key, model) -> model.references.forEach((pod, count) -> {
            for (int i = 0; i < count; i++) {
                f.store.deleteReference(key, pod);
            }
        }));
        f.requireNothingHeld();
        f.store.close();
        f.server.close();
    }

    private ScopeModel namespace(String name) {
        return namespaces.computeIfAbsent(name, first -> new ScopeModel(true));
    }

    private ScopeModel model(ObjectKey key) {
        return models.computeIfAbsent(key, k -> new ScopeModel(false));
    }

    private long serverVersion() {
        return Long.parseLong(f.server
                .cluster()
                .list(Resource.SECRETS, Selection.everything(), "")
                .resourceVersion());
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
