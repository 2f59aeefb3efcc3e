package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** P6: after any sequence of registrations, references are those of a model, one after the other or all at once. */
class CacheBasedManagerProperties {

    /** Counts what is asked of it, and refuses a count below zero. */
    private static final class CountingStore extends ReferencesOnly {
        private final Multiset<Map.Entry<ObjectKey, Referrer>> counts = HashMultiset.create();

        @Override
        public synchronized void addReference(ObjectKey key, Referrer referrer) {
            counts.add(Map.entry(key, referrer));
        }

        @Override
        public synchronized void deleteReference(ObjectKey key, Referrer referrer) {
            assertThat(counts.remove(Map.entry(key, referrer)))
                    .as("a delete of %s for %s without an add", key, referrer)
                    .isTrue();
        }

        synchronized Map<String, Set<String>> secretsByUid() {
            Map<String, Set<String>> held = new HashMap<>();
            for (Map.Entry<ObjectKey, Referrer> reference : counts) {
                boolean first = held.computeIfAbsent(reference.getValue().uid(), uid -> new HashSet<>())
                        .add(reference.getKey().name());
                assertThat(first).as("%s is referred to once", reference).isTrue();
            }
            return held;
        }
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
        CountingStore store = new CountingStore();
        Manager<Secret> manager = Manager.caching(store, PodReferences::secretKeys);
        Map<String, Set<String>> model = new HashMap<>();
        for (PodCall call : calls) {
            call.make(manager);
            model.remove(call.uid());
            if (call.register() && !call.secrets().isEmpty()) {
                model.put(call.uid(), call.secrets());
            }
            assertThat(store.secretsByUid()).isEqualTo(model);
        }
    }

    @Property
    void allAtOnce_everyPodEndsWithOneOfItsCalls_andUnregisteredWithNothing(
            @ForAll("calls") List<PodCall> left, @ForAll("calls") List<PodCall> right) throws Exception {
        CountingStore store = new CountingStore();
        Manager<Secret> manager = Manager.caching(store, PodReferences::secretKeys);
        CyclicBarrier start = new CyclicBarrier(2);
        List<Throwable> failures = new ArrayList<>();
        Thread other = new Thread(() -> makeAll(manager, start, right, failures));
        other.start();
        makeAll(manager, start, left, failures);
        other.join();

        assertThat(failures).isEmpty();
        store.secretsByUid()
                .forEach((uid, held) -> assertThat(last(uid, left, right)).contains(held));
        for (int i = 1; i <= 3; i++) {
            new PodCall("uid-" + i, false, Set.of()).make(manager);
        }
        assertThat(store.secretsByUid()).isEmpty();
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
