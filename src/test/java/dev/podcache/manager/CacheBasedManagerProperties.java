package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.KnownObject;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** P6: after any sequence of registrations, references are those of a model, one after the other or all at once. */
class CacheBasedManagerProperties {

    private static TtlObjectStore<Secret> unreadStore() {
        return new TtlObjectStore<>(
                ObjectKind.SECRET,
                (key, source, timeout) -> CompletableFuture.failedFuture(new AssertionError("nobody reads")),
                FixedTtl.ofSeconds(60),
                StoreOptions.defaults(new ManualTimekeeper()));
    }

    private static Map<String, Set<String>> secretsByUid(TtlObjectStore<Secret> store) {
        Map<String, Set<String>> held = new HashMap<>();
        for (ObjectKey key : store.keys()) {
            KnownObject<Secret> known = Objects.requireNonNull(store.known(key));
            for (Referrer owner : known.referrers()) {
                held.computeIfAbsent(owner.uid(), uid -> new HashSet<>()).add(key.name());
            }
            assertThat(known.state().references())
                    .as("each of %s refers to %s once", known.referrers(), key)
                    .isEqualTo(known.referrers().size());
        }
        return held;
    }

    /** One call: what a pod refers to from now on, or nothing if it goes. */
    private record PodCall(String uid, boolean register, Set<String> secrets) {
        void make(Manager<?> manager) {
            Pod pod = Pods.withSecrets("default", "pod", uid, List.copyOf(secrets));
            if (register) {
                manager.registerPod(pod);
            } else {
                manager.unregisterPod(pod);
            }
        }
    }

    @Property
    void oneAfterTheOther_referencesAreThoseLastRegistered(@ForAll("calls") List<PodCall> calls) {
        TtlObjectStore<Secret> store = unreadStore();
        Manager<Secret> manager = Managers.caching(store, PodReferences::secretKeys);
        Map<String, Set<String>> model = new HashMap<>();
        for (PodCall call : calls) {
            call.make(manager);
            model.remove(call.uid());
            if (call.register() && !call.secrets().isEmpty()) {
                model.put(call.uid(), call.secrets());
            }
            assertThat(secretsByUid(store)).isEqualTo(model);
        }
    }

    @Property
    void allAtOnce_everyPodEndsWithOneOfItsCalls_andUnregisteredWithNothing(
            @ForAll("calls") List<PodCall> left, @ForAll("calls") List<PodCall> right) throws Exception {
        TtlObjectStore<Secret> store = unreadStore();
        Manager<Secret> manager = Managers.caching(store, PodReferences::secretKeys);
        CyclicBarrier start = new CyclicBarrier(2);
        List<Throwable> failures = new ArrayList<>();
        Thread other = new Thread(() -> makeAll(manager, start, right, failures));
        other.start();
        makeAll(manager, start, left, failures);
        other.join();

        assertThat(failures).isEmpty();
        secretsByUid(store)
                .forEach((uid, held) -> assertThat(last(uid, left, right)).contains(held));
        for (int i = 1; i <= 3; i++) {
            new PodCall("uid-" + i, false, Set.of()).make(manager);
        }
        assertThat(secretsByUid(store)).isEmpty();
    }

    private static void makeAll(
            Manager<?> manager, CyclicBarrier start, List<PodCall> calls, List<Throwable> failures) {
        try {
            start.await();
            calls.forEach(call -> call.make(manager));
        } catch (Exception | AssertionError e) {
            synchronized (failures) {
                failures.add(e);
            }
        }
    }

    /** What a pod may hold in the end: what the last call of either thread for it says. */
    private static List<Set<String>> last(String uid, List<PodCall> left, List<PodCall> right) {
        List<Set<String>> possible = new ArrayList<>();
        for (List<PodCall> calls : List.of(left, right)) {
            calls.stream()
                    .filter(call -> call.uid().equals(uid))
                    .reduce((first, second) -> second)
                    .ifPresent(call -> possible.add(call.register() ? call.secrets() : Set.of()));
        }
        return possible;
    }

    @Provide
    Arbitrary<List<PodCall>> calls() {
        Arbitrary<String> uids = Arbitraries.of("uid-1", "uid-2", "uid-3");
        Arbitrary<Set<String>> secrets =
                Arbitraries.of("a", "b", "c", "d").set().ofMaxSize(4);
        return Combinators.combine(
                        uids,
                        Arbitraries.frequency(net.jqwik.api.Tuple.of(3, true), net.jqwik.api.Tuple.of(1, false)),
                        secrets)
                .as(PodCall::new)
                .list()
                .ofMaxSize(30);
    }
}
