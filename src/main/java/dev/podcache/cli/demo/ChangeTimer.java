package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.observe.NodeObserver;
import dev.podcache.cli.observe.ObjectChange;
import dev.podcache.cli.observe.PeriodicTasks;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.Seconds;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Measures how soon an agent sees the changes that the demo makes. Reads a changed object every few milliseconds until
 * the change is seen, because the agent's own reads are too rare to measure by. Thread-safe.
 */
final class ChangeTimer implements Consumer<ObjectChange>, AutoCloseable {

    private record MadeChange(String what, double madeAt) {}

    private static final Duration PERIOD = Duration.ofMillis(5);

    private final EventWriter events;
    private final Map<ObjectId, MadeChange> unseen = new ConcurrentHashMap<>();
    private final Map<String, Double> seenAfter = Collections.synchronizedMap(new LinkedHashMap<>());
    private final PeriodicTasks tasks = new PeriodicTasks("demo-changes", 1);

    ChangeTimer(EventWriter events) {
        this.events = events;
    }

    void start(NodeObserver observer) {
        tasks.every(PERIOD, PERIOD, () -> unseen.keySet().forEach(observer::peek));
    }

    /** The demo is about to make a change. */
    void expect(ObjectId id, String what) {
        unseen.put(id, new MadeChange(what, events.seconds()));
    }

    /** Gives up the changes that were not seen yet. */
    void giveUp() {
        unseen.clear();
    }

    /** The agent saw a change, made by the demo or by the user. */
    @Override
    public void accept(ObjectChange change) {
        MadeChange made = unseen.remove(change.id());
        if (made == null) {
            events.write(change.event("", ImmutableMap.of()));
            return;
        }
        double after = events.seconds() - made.madeAt();
        seenAfter.put(made.what(), Seconds.rounded(after));
        events.write(change.event(
                ", seen after " + Seconds.text(after), ImmutableMap.of("seenAfterSeconds", Seconds.rounded(after))));
    }

    /** Returns the changes that were seen, and after how many seconds. */
    ImmutableMap<String, Double> seenAfter() {
        synchronized (seenAfter) {
            return ImmutableMap.copyOf(seenAfter);
        }
    }

    @Override
    public void close() {
        tasks.close();
    }
}
