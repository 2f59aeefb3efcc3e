package dev.podcache.chaos;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Pods of one cache come, change, are followed by others of their name, and go. One thread, the
 * only one that registers.
 */
final class PodChurn {

    private static final int MOST_PODS = 12;
    private static final int PODS_AT_FIRST = 6;
    private static final int MOST_REFERENCES = 6;

    private final World world;
    private final CacheUnderTest cache;
    private final SplittableRandom random;
    private final Set<CachedObject> steady;
    private final List<CachedObject> others;
    private final List<PlannedPod> pods = new ArrayList<>();
    private final List<PlannedPod> staying = new ArrayList<>();
    private final List<PlannedPod> gone = new ArrayList<>();
    private volatile boolean replaceNext;
    private int serial;

    PodChurn(World world, CacheUnderTest cache, SplittableRandom random) {
        this.world = world;
        this.cache = cache;
        this.random = random;
        steady = world.subjects.stream().filter(world::isSteady).collect(Collectors.toUnmodifiableSet());
        others = world.subjects.stream()
                .filter(subject -> !world.isSteady(subject))
                .toList();
    }

    /** A pod comes that stays as it is until the end. */
    void begin() {
        PlannedPod pod = new PlannedPod(world.namespace, "steady", "uid-steady", 1, steady);
        register(pod);
        pods.remove(pod);
        staying.add(pod);
    }

    /** Has the cache closed, and another opened with the same pods, by the thread that registers, soon. */
    void replaceCache() {
        replaceNext = true;
    }

    /** Whether that is still to be done. */
    boolean isReplacing() {
        return replaceNext;
    }

    Duration step() {
        if (replaceNext) {
            replace();
            replaceNext = false;
        }
        int dice = random.nextInt(100);
        if (pods.isEmpty() || serial < PODS_AT_FIRST || (dice < 25 && pods.size() < MOST_PODS)) {
            register(new PlannedPod(world.namespace, "pod-" + ++serial, "uid-" + serial, 1, references()));
        } else {
            change(pods.get(random.nextInt(pods.size())), dice);
        }
        return Duration.ofMillis(random.nextInt(30, 250));
    }

    private void change(PlannedPod pod, int dice) {
        if (dice < 45) {
            update(pod, new PlannedPod(pod.namespace(), pod.name(), pod.uid(), pod.version() + 1, references()));
        } else if (dice < 60) {
            register(new PlannedPod(pod.namespace(), pod.name(), "uid-" + ++serial, 1, references()));
            unregister(pod);
        } else if (dice < 80) {
            unregister(pod);
        } else if (dice < 90 || gone.isEmpty()) {
            // nothing of it has changed
            cache.podcache().registerPod(pod.pod());
            count("registration, unchanged");
        } else {
            // nobody knows it any more
            cache.podcache().unregisterPod(gone.get(random.nextInt(gone.size())).pod());
            count("unregistration, repeated");
        }
    }

    private void replace() {
        List<PlannedPod> known = new ArrayList<>(staying);
        known.addAll(pods);
        Set<CachedObject> held =
                known.stream().flatMap(pod -> pod.references().stream()).collect(Collectors.toUnmodifiableSet());
        cache.claims.changing(held);
        cache.replace();
        cache.claims.forgotten(held);
        for (PlannedPod pod : known) {
            apply(pod.references(), Set.of(), () -> cache.podcache().registerPod(pod.pod()), "registered anew " + pod);
        }
        count("cache replaced");
    }

    /** A pod comes that refers to this alone. */
    void registerOne(CachedObject subject) {
        register(new PlannedPod(world.namespace, "pod-" + ++serial, "uid-" + serial, 1, Set.of(subject)));
    }

    /** The pods are gone, all of them. */
    void end() {
        pods.addAll(staying);
        staying.clear();
        for (PlannedPod pod : List.copyOf(pods)) {
            unregister(pod);
        }
    }

    private Set<CachedObject> references() {
        Set<CachedObject> chosen = new LinkedHashSet<>();
        int wanted = random.nextInt(MOST_REFERENCES + 1);
        for (int i = 0; i < wanted; i++) {
            chosen.add(others.get(random.nextInt(others.size())));
        }
        return chosen;
    }

    private void register(PlannedPod pod) {
        apply(pod.references(), Set.of(), () -> cache.podcache().registerPod(pod.pod()), "registered " + pod);
        pods.add(pod);
        count("registration");
    }

    private void update(PlannedPod before, PlannedPod after) {
        Set<CachedObject> added = new LinkedHashSet<>(after.references());
        added.removeAll(before.references());
        Set<CachedObject> removed = new LinkedHashSet<>(before.references());
        removed.removeAll(after.references());
        Pod pod = after.pod();
        apply(added, removed, () -> cache.podcache().registerPod(pod), "changed to " + after);
        pods.remove(before);
        pods.add(after);
        count("registration, changed");
    }

    private void unregister(PlannedPod pod) {
        apply(Set.of(), pod.references(), () -> cache.podcache().unregisterPod(pod.pod()), "unregistered " + pod);
        pods.remove(pod);
        gone.add(pod);
        if (gone.size() > MOST_PODS) {
            gone.remove(0);
        }
        count("unregistration");
    }

    private void apply(Set<CachedObject> added, Set<CachedObject> removed, Runnable call, String what) {
        cache.claims.changing(added);
        cache.claims.changing(removed);
        long began = world.time.now();
        call.run();
        cache.claims.added(added, began, world.time.now());
        cache.claims.removed(removed);
        for (Set<CachedObject> touched : List.of(added, removed)) {
            for (CachedObject subject : touched) {
                world.journal.note(subject, cache + " " + what + ", begun at " + RunTime.seconds(began));
                checkReferences(subject);
            }
        }
    }

    /** Whether the cache counts as we do. */
    void checkReferences(CachedObject subject) {
        if (cache.rules.isGet()) {
            return;
        }
        int expected = cache.claims.of(subject).references();
        int counted = cache.state(subject).references();
        if (counted != expected) {
            world.violations.add(
                    Shape.MISCOUNTED, subject, cache + " counts " + counted + " references, not " + expected);
        }
    }

    private void count(String what) {
        world.figures.count("pod " + cache + " " + what);
    }
}
