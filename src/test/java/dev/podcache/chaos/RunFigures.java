package dev.podcache.chaos;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.CacheState;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** What is counted and measured in a run. Thread-safe. */
final class RunFigures {

    private final ConcurrentMap<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, LongAccumulator> worst = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, LongAccumulator> most = new ConcurrentHashMap<>();

    void count(String what) {
        counts.computeIfAbsent(what, key -> new LongAdder()).increment();
    }

    void tookGet(ChangeDetectionStrategy strategy, boolean known, long nanos) {
        worst(strategy + " get of " + (known ? "a known object" : "any object"), nanos);
    }

    /** A value called fresh was outdated by so much, counted from the change; not at all if negative. */
    void fresh(ChangeDetectionStrategy strategy, long outdated) {
        worst(strategy + " FRESH though outdated, from the change", outdated);
    }

    /** The same while the server's own cache may have been behind. */
    void freshWhileServerBehind(ChangeDetectionStrategy strategy, long outdated) {
        worst(strategy + " FRESH though outdated, the server's cache being behind", outdated);
    }

    /** The most of something at once. */
    void most(String what, long count) {
        most.computeIfAbsent(what, key -> new LongAccumulator(Math::max, 0)).accumulate(count);
    }

    /** The same of one that was not called fresh all the time. */
    void notFresh(ChangeDetectionStrategy strategy, CacheState phase, long outdated) {
        if (phase == CacheState.STALE) {
            count("stale " + strategy);
            worst(strategy + " staleness while STALE", outdated);
        } else {
            worst(strategy + " staleness, state changing", outdated);
        }
    }

    /** Something took so long. */
    void took(String what, long nanos) {
        worst(what, nanos);
    }

    private void worst(String what, long nanos) {
        worst.computeIfAbsent(what, key -> new LongAccumulator(Math::max, 0)).accumulate(nanos);
    }

    /** How many there were of what begins with {@code prefix}, in the order of their names. */
    Map<String, Long> counted(String prefix) {
        Map<String, Long> found = new TreeMap<>();
        counts.forEach((what, count) -> {
            if (what.startsWith(prefix)) {
                found.put(what.substring(prefix.length()), count.sum());
            }
        });
        return found;
    }

    long total(String prefix) {
        return counted(prefix).values().stream().mapToLong(Long::longValue).sum();
    }

    /** The most of everything that was counted at once. */
    Map<String, Long> most() {
        Map<String, Long> found = new TreeMap<>();
        most.forEach((what, count) -> found.put(what, count.get()));
        return found;
    }

    /** The worst of everything that was measured, as text. */
    Map<String, String> worst() {
        Map<String, String> found = new TreeMap<>();
        worst.forEach((what, nanos) -> found.put(what, RunTime.seconds(nanos.get())));
        return found;
    }
}
