package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.agent.Caches;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Counts and reports what the caches of an agent do: reads, changes of objects, and watches. */
public final class CacheReports implements AutoCloseable {

    private static final Duration WATCH_REPORTS = Duration.ofSeconds(1);
    private static final Duration CLEANUP = Duration.ofMinutes(1);

    private final EventWriter events;
    private final WatchMonitor watches = new WatchMonitor();
    private final ReadMonitor reads = new ReadMonitor(watches);
    private final ObjectMonitor objects;
    private final PeriodicTasks tasks = new PeriodicTasks("cache-reports", 1);
    private ReadCounts reported = ReadCounts.NONE; // guarded by this
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Creates reports that write the changes of objects to {@code events}. */
    public CacheReports(EventWriter events) {
        this(events, change -> events.write(change.event("", ImmutableMap.of())));
    }

    /**
     * Creates reports that pass the changes of objects to {@code changes}, which writes their events. It is called on
     * the threads of readers.
     */
    public CacheReports(EventWriter events, Consumer<ObjectChange> changes) {
        this.events = events;
        this.objects = new ObjectMonitor(changes);
    }

    EventWriter events() {
        return events;
    }

    /** Returns the listener to build the caches with. */
    PodcacheMetrics metrics() {
        return reads;
    }

    /** Returns a view of {@code caches} whose reads are counted and observed. */
    Caches counted(Caches caches) {
        return new Caches(
                new CountedManager<>(caches.secrets(), ObjectKind.SECRET, reads, objects),
                new CountedManager<>(caches.configMaps(), ObjectKind.CONFIG_MAP, reads, objects));
    }

    /**
     * Starts to report.
     *
     * @param pods the pods of the agent; objects that they do not refer to are forgotten once a minute
     * @param delay until the first report of reads
     * @param period between two reports of reads
     */
    void start(Supplier<? extends Iterable<Pod>> pods, Duration delay, Duration period) {
        tasks.every(WATCH_REPORTS, WATCH_REPORTS, () -> reportWatches(false));
        tasks.every(delay, period, this::reportReads);
        tasks.every(
                CLEANUP, CLEANUP, () -> retain(ReferencedObjects.of(pods.get()).objects()));
    }

    /** Runs {@code task} at once and then once a period until closed, on the thread of the reports. */
    void every(Duration period, Runnable task) {
        tasks.every(Duration.ZERO, period, task);
    }

    /** Reads an object and reports its change, but does not count the read. */
    void peek(Manager<? extends HasMetadata> manager, ObjectId id) {
        try {
            HasMetadata object =
                    manager.getObject(id.key().namespace(), id.key().name());
            objects.observed(id, Observation.of(object));
        } catch (NotRegistered | Closed e) {
            // no pod refers to it, so there is nothing to observe
        } catch (ObjectUnavailableException e) {
            objects.observed(id, Observation.of(e));
        } finally {
            reads.discard();
        }
    }

    ReadCounts counts() {
        return reads.counts();
    }

    WatchMonitor watches() {
        return watches;
    }

    /** Returns the number of objects that were read. */
    int observedObjects() {
        return objects.size();
    }

    Summary summary(ChangeDetectionStrategy strategy, Iterable<Pod> pods) {
        return new Summary(strategy, ReferencedObjects.of(pods), counts(), watches.totals());
    }

    void retain(ImmutableSet<ObjectId> referenced) {
        objects.retain(referenced);
        watches.retain(referenced);
    }

    private void reportWatches(boolean all) {
        watches.report(all).forEach(events::write);
    }

    /** Reports the reads since the last report, if there were any. */
    synchronized void reportReads() {
        ReadCounts now = counts();
        ReadCounts added = now.since(reported);
        reported = now;
        if (added.reads() > 0) {
            events.write(new ProgramEvent("reads", added.text(), added.facts()));
        }
    }

    /** Reports the rest. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            tasks.close();
            reportWatches(true);
            reportReads();
        }
    }
}
