package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.cli.output.Event;
import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Tells of watches that are opened, lost and opened again: those of a moment in one line, because one lost connection
 * is hundreds of lost watches. Thread-safe.
 */
final class WatchNews implements AutoCloseable {

    private static final int LOOK_MILLIS = 100;

    /** Watches open one by one, and come back one by one: after so many looks it is told how far they are. */
    private static final int MOST_LOOKS = 20;

    private final Consumer<Event> account;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(new ThreadFactoryBuilder()
            .setNameFormat("agent-watch-news")
            .setDaemon(true)
            .build());

    // guarded by this, like all that follows
    private final SortedMap<FailureReason, Integer> failed = new TreeMap<>();
    private final SortedMap<FailureReason, Integer> lost = new TreeMap<>();
    private Group opened = new Group();
    private Group again = new Group();
    private boolean moreToCome;
    private boolean looking;
    private int looks;
    private int openedBefore;
    private boolean closed;

    /** Watches that became live, and how long that took. */
    private static final class Group {
        int watches;
        double shortest = Double.MAX_VALUE;
        double longest;

        void add(Duration took) {
            double seconds = took.toNanos() / 1e9;
            watches++;
            shortest = Math.min(shortest, seconds);
            longest = Math.max(longest, seconds);
        }
    }

    WatchNews(Consumer<Event> account) {
        this.account = account;
    }

    /** A watch became live for the first time. */
    synchronized void opened(Duration took) {
        opened.add(took);
        lookLocked();
    }

    /** A watch cannot be opened in the first place. */
    synchronized void failed(FailureReason reason) {
        failed.merge(reason, 1, Integer::sum);
        lookLocked();
    }

    /** A live watch failed. */
    synchronized void lost(FailureReason reason) {
        lost.merge(reason, 1, Integer::sum);
        lookLocked();
    }

    /** A lost watch became live; {@code others} are still lost. */
    synchronized void again(Duration took, boolean others) {
        again.add(took);
        moreToCome = others;
        lookLocked();
    }

    /** Tells what has settled, and looks again for the rest. */
    private void lookAgain() {
        List<Event> events = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                return;
            }
            looking = false;
            looks++;
            boolean patient = looks < MOST_LOOKS;
            takeLocked(patient && opened.watches > openedBefore, patient && moreToCome, events);
            openedBefore = opened.watches;
            if (opened.watches > 0 || again.watches > 0) {
                lookLocked();
            } else {
                looks = 0;
            }
        }
        events.forEach(account);
    }

    private void takeLocked(boolean keepOpened, boolean keepAgain, List<Event> events) {
        if (opened.watches > 0 && !keepOpened) {
            events.add(live(opened, objects(opened.watches) + ", live after "));
            opened = new Group();
        }
        takeFailures(failed, "unwatched", " cannot be watched, trying on: ", events);
        takeFailures(lost, "watch-lost", " served as last known, their watches failed: ", events);
        if (again.watches > 0 && !keepAgain) {
            events.add(live(again, objects(again.watches) + " again, after "));
            again = new Group();
        }
    }

    private static void takeFailures(
            SortedMap<FailureReason, Integer> failures, String name, String what, List<Event> events) {
        int count = failures.values().stream().mapToInt(Integer::intValue).sum();
        if (count > 0) {
            ImmutableMap<String, Object> reasons = failures.entrySet().stream()
                    .collect(ImmutableMap.toImmutableMap(
                            reason -> reason.getKey().name(), Map.Entry::getValue));
            String text = objects(count) + what + String.join(", ", reasons.keySet());
            events.add(new Event(name, text, ImmutableMap.of("watches", count, "reasons", reasons)));
            failures.clear();
        }
    }

    private static String objects(int count) {
        return count + (count == 1 ? " object" : " objects");
    }

    private static Event live(Group group, String what) {
        String took = group.longest - group.shortest < 0.0005
                ? Changes.text(group.longest)
                : Changes.text(group.shortest) + " to " + Changes.text(group.longest);
        return new Event(
                "watched",
                what + took,
                ImmutableMap.of(
                        "watches", group.watches,
                        "shortestSeconds", Changes.rounded(group.shortest),
                        "longestSeconds", Changes.rounded(group.longest)));
    }

    private void lookLocked() {
        if (looking || closed) {
            return;
        }
        looking = true;
        timer.schedule(this::lookAgain, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Tells the rest and ends: what comes later is no news. Idempotent. */
    @Override
    public void close() {
        List<Event> events = new ArrayList<>();
        synchronized (this) {
            if (!closed) {
                closed = true;
                takeLocked(false, false, events);
            }
        }
        timer.shutdownNow();
        events.forEach(account);
    }
}
