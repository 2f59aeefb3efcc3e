package dev.podcache;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.google.common.io.Closer;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.impl.cache.CacheImpl;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Collectors;

/** Ways to hold objects of one namespace in memory: ours, and baselines. */
public enum HeldBy {
    /** {@link Podcache}, strategy CACHE. */
    TTL {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return through(FrontDoor.open(FrontDoor.Entries.TTL), objects, closer);
        }
    },
    /** {@link Podcache}, strategy WATCH. */
    WATCH {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return through(FrontDoor.open(FrontDoor.Entries.WATCH), objects, closer);
        }
    },
    /** {@link Podcache} with ten listeners, strategy CACHE. */
    TTL_LISTENED {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return through(listened(FrontDoor.open(FrontDoor.Entries.TTL)), objects, closer);
        }
    },
    /** {@link Podcache} with ten listeners, strategy WATCH. */
    WATCH_LISTENED {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return through(listened(FrontDoor.open(FrontDoor.Entries.WATCH)), objects, closer);
        }
    },
    /** {@link Podcache} that counts hits, strategy CACHE. */
    TTL_RECORDED {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return through(FrontDoor.recording(FrontDoor.Entries.TTL), objects, closer);
        }
    },
    /** {@link Podcache} that counts hits, strategy WATCH. */
    WATCH_RECORDED {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return through(FrontDoor.recording(FrontDoor.Entries.WATCH), objects, closer);
        }
    },
    /** {@link Podcache}, strategy CACHE, read for an owner without a subject. */
    TTL_OF_OWNER {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return forOwner(FrontDoor.open(FrontDoor.Entries.TTL), OWNER, objects, closer);
        }
    },
    /** {@link Podcache}, strategy WATCH, read for an owner without a subject. */
    WATCH_OF_OWNER {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return forOwner(FrontDoor.open(FrontDoor.Entries.WATCH), OWNER, objects, closer);
        }
    },
    /** {@link Podcache}, strategy CACHE, read on behalf of a subject. */
    TTL_ON_BEHALF {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return forOwner(FrontDoor.open(FrontDoor.Entries.TTL), OWNER.onBehalfOf(WEB), objects, closer);
        }
    },
    /** {@link Podcache}, strategy WATCH, read on behalf of a subject. */
    WATCH_ON_BEHALF {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            return forOwner(FrontDoor.open(FrontDoor.Entries.WATCH), OWNER.onBehalfOf(WEB), objects, closer);
        }
    },
    /** The limit: one map, under a key object that is built for each get. */
    CONCURRENT_HASH_MAP {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            ConcurrentMap<ObjectKey, HasMetadata> map = new ConcurrentHashMap<>();
            objects.keys().forEach(key -> map.put(key, objects.kind().make(key)));
            return (namespace, name) -> map.get(ObjectKey.of(namespace, name));
        }
    },
    /** Caffeine with a TTL. */
    CAFFEINE {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            com.github.benmanes.caffeine.cache.Cache<ObjectKey, HasMetadata> cache =
                    Caffeine.newBuilder().expireAfterWrite(FrontDoor.TTL).build();
            objects.keys().forEach(key -> cache.put(key, objects.kind().make(key)));
            return (namespace, name) -> cache.getIfPresent(ObjectKey.of(namespace, name));
        }
    },
    /** Caffeine with refreshAfterWrite. */
    CAFFEINE_REFRESH {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            LoadingCache<ObjectKey, HasMetadata> cache =
                    Caffeine.newBuilder().refreshAfterWrite(FrontDoor.TTL).build(objects.kind()::make);
            objects.keys().forEach(cache::get);
            return (namespace, name) -> cache.get(ObjectKey.of(namespace, name));
        }
    },
    /** What a lister of fabric8 does. */
    FABRIC8_INFORMER {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            CacheImpl<HasMetadata> cache = new CacheImpl<>();
            objects.keys().forEach(key -> cache.put(objects.kind().make(key)));
            return (namespace, name) -> cache.getByKey(Cache.namespaceKeyFunc(namespace, name));
        }
    },
    /** The kubelet's way. */
    KUBELET_TWO_MUTEXES {
        @Override
        Lookup hold(Objects objects, Closer closer) {
            TwoMutexStore<HasMetadata> store = new TwoMutexStore<>(FrontDoor.TTL);
            objects.keys().forEach(key -> store.put(key, objects.kind().make(key)));
            return store::get;
        }
    };

    private static final Referrer OWNER = () -> "uid-of-an-owner";
    private static final Subject WEB = Subject.serviceAccount("shop", "web");

    /** What is to be held. */
    public record Objects(Kind kind, String namespace, List<String> names) {

        List<ObjectKey> keys() {
            return names.stream().map(name -> ObjectKey.of(namespace, name)).toList();
        }

        /** Registers a pod with {@code cache} that refers to all of them, and reads each once. */
        Lookup through(Podcache cache) {
            cache.registerPod(kind.pod(namespace, names));
            Lookup lookup = kind == Kind.SECRET
                    ? (namespace, name) -> cache.secrets().getObject(namespace, name)
                    : (namespace, name) -> cache.configMaps().getObject(namespace, name);
            names.forEach(name -> lookup.find(namespace, name));
            return lookup;
        }
    }

    /** Holds them, until {@code closer} is closed. */
    abstract Lookup hold(Objects objects, Closer closer);

    private static Podcache listened(Podcache cache) {
        for (int i = 0; i < 10; i++) {
            // each ends with the cache
            AutoCloseable unused = cache.secrets().listen(Runnable::run, event -> {});
        }
        return cache;
    }

    /** Registers an owner for the objects, and reads for it. */
    private static Lookup forOwner(Podcache cache, Referrer owner, Objects objects, Closer closer) {
        closer.register(cache::close);
        ObjectKind<?> kind = objects.kind() == Kind.SECRET ? ObjectKind.SECRET : ObjectKind.CONFIG_MAP;
        cache.register(
                owner,
                objects.keys().stream().map(key -> ObjectRef.of(kind, key)).collect(Collectors.toSet()));
        Manager<? extends HasMetadata> manager = cache.objects(kind);
        Lookup lookup = (namespace, name) -> manager.getObject(owner, namespace, name);
        objects.names().forEach(name -> lookup.find(objects.namespace(), name));
        return lookup;
    }

    private static Lookup through(Podcache cache, Objects objects, Closer closer) {
        closer.register(cache::close);
        return objects.through(cache);
    }
}
