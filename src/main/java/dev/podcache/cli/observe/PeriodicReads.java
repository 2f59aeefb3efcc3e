package dev.podcache.cli.observe;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.object.Reference;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads, once a period and when a pod comes or changes, everything that the pod refers to, as a kubelet
 * does when it syncs it. A pod whose last sync still waits for an object is left out, so that a slow
 * object holds up its own pods only.
 */
final class PeriodicReads implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PeriodicReads.class);
    private static final int READERS = 8;
    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final ObjectReader reader;
    private final Sightings sightings;
    private final ReadCounter counter;
    private final Watched watched;
    private final Set<PodKey> syncing = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(named("agent-sync"));
    private final ExecutorService readers = Executors.newFixedThreadPool(READERS, named("agent-reader-%d"));

    PeriodicReads(ObjectReader reader, Sightings sightings, ReadCounter counter, Watched watched) {
        this.reader = reader;
        this.sightings = sightings;
        this.counter = counter;
        this.watched = watched;
    }

    /** Begins to sync, now and then once a period, whatever {@code pods} are there then. */
    void start(Supplier<? extends Iterable<Pod>> pods, Duration period) {
        timer.scheduleAtFixedRate(() -> syncOnce(pods), 0, period.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void syncOnce(Supplier<? extends Iterable<Pod>> pods) {
        try {
            syncAll(pods.get());
        } catch (RuntimeException e) {
            // thrown on, it would silently end the timer and with it every later sync
            log.error("a sync of the pods failed; the next one comes all the same", e);
        }
    }

    /** Syncs a pod that came or changed, on a reader's thread, unless it is being synced. */
    void soon(Pod pod) {
        PodKey key = PodReferences.key(pod);
        if (syncing.add(key)) {
            submit(pod, key);
        }
    }

    /** How many pods are being synced: their readers wait, or wait for their turn. */
    int busy() {
        return syncing.size();
    }

    /** Reads an object beyond the syncs, uncounted, to see whether it changed. */
    void look(ObjectKind<?> kind, ObjectKey key) {
        try {
            sightings.saw(kind, key, Outcome.of(reader.read(kind, key)));
        } catch (NotRegistered | Closed nobodyNeedsIt) {
            // so nobody will see it change
        } catch (ObjectUnavailableException failed) {
            sightings.saw(kind, key, Outcome.of(failed));
        } finally {
            counter.discard();
        }
    }

    private void syncAll(Iterable<Pod> pods) {
        pods.forEach(this::soon);
        Referenced.by(pods).retainIn(sightings, watched);
    }

    private void submit(Pod pod, PodKey key) {
        try {
            readers.execute(() -> {
                try {
                    sync(pod);
                } finally {
                    syncing.remove(key);
                }
            });
        } catch (RejectedExecutionException closing) {
            syncing.remove(key);
        }
    }

    /** Reads what one pod refers to, once for each use it makes of it. */
    void sync(Pod pod) {
        readAll(ObjectKind.SECRET, PodReferences.secrets(pod));
        readAll(ObjectKind.CONFIG_MAP, PodReferences.configMaps(pod));
    }

    private void readAll(ObjectKind<?> kind, Set<Reference> references) {
        for (Reference reference : references) {
            read(kind, reference.key());
        }
    }

    private void read(ObjectKind<?> kind, ObjectKey key) {
        try {
            Outcome outcome = Outcome.of(reader.read(kind, key));
            counter.read(kind, key, true);
            sightings.saw(kind, key, outcome);
        } catch (NotRegistered | Closed overtaken) {
            // the pod went, or the agent ends, while its sync was under way
            counter.overtaken();
        } catch (ObjectUnavailableException failed) {
            counter.read(kind, key, false);
            sightings.saw(kind, key, Outcome.of(failed));
        } catch (IllegalArgumentException illegalName) {
            // the API server lets a pod mention any text as a name; for one that cannot exist no request was made
            sightings.saw(kind, key, new Outcome.Failed("ILLEGAL_NAME"));
        }
    }

    /** Ends the loop; waits a moment for reads under way, then leaves them to end by themselves. */
    @Override
    public void close() {
        timer.shutdownNow();
        readers.shutdown();
        try {
            readers.awaitTermination(CLOSING.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static ThreadFactory named(String format) {
        return new ThreadFactoryBuilder().setNameFormat(format).setDaemon(true).build();
    }
}
