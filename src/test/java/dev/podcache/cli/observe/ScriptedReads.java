package dev.podcache.cli.observe;

import dev.podcache.kubelet.agent.Caches;
import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Caches whose reads are recorded, and fail or wait as a test wants. */
final class ScriptedReads {

    final List<String> reads = new CopyOnWriteArrayList<>();
    volatile CountDownLatch rounds = new CountDownLatch(0);

    private final Map<String, RuntimeException> failures = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();

    Caches caches() {
        Secret secret = new SecretBuilder()
                .withNewMetadata()
                .withResourceVersion("4")
                .endMetadata()
                .build();
        ConfigMap map = new ConfigMapBuilder()
                .withNewMetadata()
                .withResourceVersion("4")
                .endMetadata()
                .build();
        return new Caches(new Scripted<>("Secret", () -> secret), new Scripted<>("ConfigMap", () -> map));
    }

    void fail(String object, RuntimeException failure) {
        failures.put(object, failure);
    }

    void hold(String object) {
        held.put(object, new CountDownLatch(1));
    }

    void releaseAll() {
        held.values().forEach(CountDownLatch::countDown);
    }

    private void read(String object) {
        reads.add(object);
        rounds.countDown();
        RuntimeException failure = failures.get(object);
        if (failure != null) {
            throw failure;
        }
        CountDownLatch hold = held.get(object);
        if (hold != null) {
            try {
                hold.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final class Scripted<T> implements Manager<T> {

        private final String kind;
        private final Supplier<T> object;

        Scripted(String kind, Supplier<T> object) {
            this.kind = kind;
            this.object = object;
        }

        @Override
        public T getObject(String namespace, String name) {
            read(kind + " " + namespace + "/" + name);
            return object.get();
        }

        @Override
        public void registerPod(Pod pod) {}

        @Override
        public void unregisterPod(Pod pod) {}

        @Override
        public void register(Referrer referrer, Set<ObjectKey> objects) {}

        @Override
        public void unregister(Referrer referrer) {}

        @Override
        public Optional<T> findObject(String namespace, String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<T> peek(String namespace, String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public AutoCloseable listen(Executor executor, Consumer<ObjectEvent<T>> listener) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ObjectState state(String namespace, String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public T getObject(String namespace, String name, ReadConsistency consistency) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<T> getObjectAsync(String namespace, String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Map<ObjectKey, T> getObjects(Set<ObjectKey> keys) {
            throw new UnsupportedOperationException();
        }

        @Override
        public AutoCloseable listen(
                Executor executor, Duration gather, BiConsumer<Referrer, List<ObjectEvent<T>>> listener) {
            throw new UnsupportedOperationException();
        }
    }
}
