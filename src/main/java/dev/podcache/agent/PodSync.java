package dev.podcache.agent;

import com.google.common.collect.ImmutableSet;
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
import java.util.HashSet;
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
 * Reads, once a period, everything that each pod refers to, as a kubelet does when it syncs its pods. A pod whose last sync still
 * waits for an object is left out, so that a slow object holds up its own pods only.
 */
final class PodSync implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PodSync.class);
    private static final int READERS = 8;
    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final Supplier<? extends Iterable<Pod>> pods;
    private final ObjectReader reader;
    private final Sightings sightings;
    private final ReadCounter counter;
    private final Set<PodKey> syncing = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(named("agent-sync"));
    private final ExecutorService readers = Executors.newFixedThreadPool(READERS, named("agent-reader-%d"));

    PodSync(Supplier<? extends Iterable<Pod>> pods, ObjectReader reader, Sightings sightings, ReadCounter counter) {
        this.pods = pods;
        this.reader = reader;
        this.sightings = sightings;
        this.counter = counter;
    }

    /** Begins to sync, now and then once a period. */
    void start(Duration period) {
        timer.scheduleAtFixedRate(this::syncOnce, 0, period.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void syncOnce() {
        try {
            syncAll();
        } catch (RuntimeException e) {
            // thrown on, it would silently end the timer and with it every later sync
            log.error("a sync of the pods failed; the next one comes all the same", e);
        }
    }

    /** Syncs each pod that is not being synced, on the readers' threads. */
    private void syncAll() {
        Set<ObjectKey> secrets = new HashSet<>();
        Set<ObjectKey> configMaps = new HashSet<>();
        for (Pod pod : pods.get()) {
            PodReferences.secrets(pod).forEach(reference -> secrets.add(reference.key()));
            PodReferences.configMaps(pod).forEach(reference -> configMaps.add(reference.key()));
            PodKey key = PodReferences.key(pod);
            if (syncing.add(key)) {
                submit(pod, key);
            }
        }
        sightings.retain(ObjectKind.SECRET, secrets);
        sightings.retain(ObjectKind.CONFIG_MAP, configMaps);
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

    private void readAll(ObjectKind<?> kind, ImmutableSet<Reference> references) {
        for (Reference reference : references) {
            read(kind, reference.key());
        }
    }

    private void read(ObjectKind<?> kind, ObjectKey key) {
        try {
            Outcome outcome = Outcome.of(reader.read(kind, key));
            counter.read(true);
            sightings.saw(kind, key, outcome);
        } catch (NotRegistered | Closed overtaken) {
            // the pod went, or the agent ends, while its sync was under way
            counter.overtaken();
        } catch (ObjectUnavailableException failed) {
            counter.read(false);
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
