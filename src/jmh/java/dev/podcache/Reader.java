package dev.podcache;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.google.common.io.Closer;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.function.Function;

/** A cache of one Secret of an API server, which can be made to forget it. */
public interface Reader {

    /** What is held, or else asked for. For many threads. */
    Secret get();

    /** Has the next get ask. */
    void forget();

    /** Ways to be one. */
    enum By {
        /** {@link Podcache}, strategy CACHE: forgets when a pod comes that refers to the Secret. */
        PODCACHE {
            @Override
            Reader open(Fabric8ApiServer server, ObjectKey key, Duration ttl, Closer closer) {
                Podcache cache = Podcache.builder(server)
                        .strategy(ChangeDetectionStrategy.CACHE)
                        .defaultTtl(ttl)
                        .build();
                closer.register(cache::close);
                Pod pod = Pods.withSecrets(key.namespace(), "web", "uid-1", key.name());
                return new Reader() {
                    @Override
                    public Secret get() {
                        return cache.secrets().getObject(key.namespace(), key.name());
                    }

                    @Override
                    public void forget() {
                        cache.unregisterPod(pod);
                        cache.registerPod(pod);
                    }
                };
            }
        },
        /** A LoadingCache of Caffeine, expireAfterWrite. */
        CAFFEINE {
            @Override
            Reader open(Fabric8ApiServer server, ObjectKey key, Duration ttl, Closer closer) {
                return caffeine(Caffeine.newBuilder().expireAfterWrite(ttl), server, key);
            }
        },
        /** A LoadingCache of Caffeine, refreshAfterWrite: serves what it holds, however old, and refreshes meanwhile. */
        CAFFEINE_REFRESH {
            @Override
            Reader open(Fabric8ApiServer server, ObjectKey key, Duration ttl, Closer closer) {
                Duration shortest = Duration.ofNanos(1);
                return caffeine(
                        Caffeine.newBuilder().refreshAfterWrite(ttl.compareTo(shortest) > 0 ? ttl : shortest),
                        server,
                        key);
            }
        },
        /** The kubelet's way. */
        KUBELET_TWO_MUTEXES {
            @Override
            Reader open(Fabric8ApiServer server, ObjectKey key, Duration ttl, Closer closer) {
                Function<ObjectKey, Secret> fetch = fetchFrom(server);
                TwoMutexStore<Secret> store = new TwoMutexStore<>(ttl);
                return new Reader() {
                    @Override
                    public Secret get() {
                        return store.get(key, fetch);
                    }

                    @Override
                    public void forget() {
                        store.forget(key);
                    }
                };
            }
        };

        private static final Duration TIMEOUT = Duration.ofSeconds(10);

        /** Works until {@code closer} is closed. */
        abstract Reader open(Fabric8ApiServer server, ObjectKey key, Duration ttl, Closer closer);

        private static Reader caffeine(Caffeine<Object, Object> settings, Fabric8ApiServer server, ObjectKey key) {
            LoadingCache<ObjectKey, Secret> cache = settings.build(fetchFrom(server)::apply);
            return new Reader() {
                @Override
                public Secret get() {
                    return cache.get(key);
                }

                @Override
                public void forget() {
                    cache.invalidate(key);
                }
            };
        }

        /** The requests that Podcache makes, so that only who makes them differs. */
        private static Function<ObjectKey, Secret> fetchFrom(Fabric8ApiServer server) {
            ObjectGetter<Secret> getter = server.getter(ObjectKind.SECRET);
            return key -> getter.get(key, ReadSource.QUORUM, TIMEOUT).join().object();
        }
    }
}
