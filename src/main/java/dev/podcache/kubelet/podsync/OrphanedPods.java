package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Backoff;
import dev.podcache.time.OverdueCalls;
import dev.podcache.time.Pause;
import dev.podcache.time.SerialRun;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Finds pods of which the runtime knows a container, but which are no longer to run: they were deleted while no agent was
 * there. Looks for them after each list of the pods, once all sources of pods were read; and again after a pause if the
 * runtime failed to list its pods. Thread-safe; only {@link #find} blocks.
 */
final class OrphanedPods implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(OrphanedPods.class);

    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(30));

    /** The pause after a failure that could not even be reported. */
    private static final Duration UNREPORTED = Duration.ofSeconds(30);

    private final PodRuntime runtime;
    private final SerialRun looks;
    private final OverdueCalls listing;
    private final Predicate<String> isKnown;
    private final Consumer<Pod> end;
    private final DoubleSupplier random;
    private final Pause pause;
    private final RuntimeFailures reported = new RuntimeFailures(); // used by looks
    private int failures; // in a row; used by looks

    private boolean listed; // guarded by this
    private boolean awaitsFiles; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates an instance that looks for nothing yet.
     *
     * @param listing notices when the runtime does not list its pods
     * @param isKnown returns whether the pod with a UID is to run
     * @param end ends a pod; may be called for one that has become known meanwhile
     * @param random uniform in [0, 1), for the jitter of pauses
     */
    OrphanedPods(
            WorkerParts parts,
            OverdueCalls listing,
            Predicate<String> isKnown,
            Consumer<Pod> end,
            DoubleSupplier random) {
        this.runtime = parts.runtime();
        this.looks = SerialRun.on(parts.threads()::executeNow, this::endAll);
        this.listing = listing;
        this.isKnown = isKnown;
        this.end = end;
        this.random = random;
        this.pause = new Pause(parts.timekeeper());
    }

    /** Looks for no orphans until {@link #filesRead}. */
    synchronized void awaitFiles() {
        awaitsFiles = true;
    }

    /** Tells that the pods that come from files are known. */
    void filesRead() {
        synchronized (this) {
            if (!awaitsFiles) {
                return;
            }
            awaitsFiles = false;
            if (!listed) {
                return;
            }
        }
        looks.request();
    }

    /** Tells that the pods of the API server are known. */
    void listed() {
        synchronized (this) {
            listed = true;
            if (awaitsFiles) {
                return;
            }
        }
        looks.request();
    }

    private void endAll() {
        if (isClosed()) {
            return;
        }
        Duration retryIn = Duration.ZERO;
        try {
            for (Pod orphan : find()) {
                log.warn(
                        "stopping pod {}: the runtime has it, but neither the API server nor a file of this node",
                        PodReferences.key(orphan));
                end.accept(orphan);
            }
            failures = 0;
        } catch (RuntimeException | Error e) {
            retryIn = UNREPORTED;
            retryIn = failed(e);
        } finally {
            if (!retryIn.isZero()) {
                pause.then(retryIn, looks::request);
            }
        }
    }

    /** Returns the pause after a failure. */
    private Duration failed(Throwable failure) {
        failures++;
        Duration length = PAUSES.pause(failures, random.getAsDouble());
        reported.log(
                isClosed() ? Level.DEBUG : Level.WARN,
                "the runtime did not list its pods; pods that were deleted meanwhile still run; retrying in "
                        + length.toSeconds() + " s",
                failure);
        return length;
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Looks for no orphans any more. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        pause.close();
    }

    /** Returns the pods that only the runtime knows, with their identities alone. Throws what the runtime throws. */
    List<Pod> find() {
        List<PodKey> running;
        Timekeeper.Scheduled call = listing.begin();
        try {
            running = runtime.pods();
        } finally {
            call.cancel();
        }
        return running.stream()
                .filter(key -> !isKnown.test(key.uid()))
                .map(OrphanedPods::pod)
                .toList();
    }

    private static Pod pod(PodKey key) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(key.namespace())
                .withName(key.name())
                .withUid(key.uid())
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();
    }
}
