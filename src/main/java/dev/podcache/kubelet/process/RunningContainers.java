package dev.podcache.kubelet.process;

import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.object.PodKey;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds, watches and stops the containers that run. Thread-safe.
 *
 * <p>Whether a container runs is asked of the file system each time. What is kept here is only its watch: from the first
 * time that the container is found until it has ended.
 */
public final class RunningContainers {

    private final PodDirectories pods;
    private final Timekeeper timekeeper;
    private final Map<String, RunningContainer> watched = new ConcurrentHashMap<>(); // by container ID
    private volatile @Nullable RuntimeEvents events;

    /**
     * Creates an instance that watches no container.
     *
     * @param timekeeper its threads call the listener of {@link #setEvents}
     */
    public RunningContainers(PodDirectories pods, Timekeeper timekeeper) {
        this.pods = pods;
        this.timekeeper = timekeeper;
    }

    /** Sets the listener that is told when a container has ended. */
    public void setEvents(RuntimeEvents notified) {
        events = notified;
    }

    /** Returns a container, which is watched from now on; empty if it does not run. */
    public Optional<RunningContainer> find(PodKey pod, String container) throws IOException {
        List<ContainerInstance> instances = pods.instances(pod, container);
        return instances.isEmpty() ? Optional.empty() : find(pod, instances.get(0));
    }

    /**
     * Returns a container, as {@link #find} does.
     *
     * @throws IOException if it does not run
     */
    public RunningContainer require(PodKey pod, String container) throws IOException {
        return find(pod, container).orElseThrow(() -> new IOException("container " + container + " does not run"));
    }

    /** Returns the running containers of a pod, which are watched from now on. */
    public List<RunningContainer> findAll(PodKey pod) throws IOException {
        List<RunningContainer> found = new ArrayList<>();
        for (ContainerInstance container : pods.newest(pod)) {
            find(pod, container).ifPresent(found::add);
        }
        return found;
    }

    private Optional<RunningContainer> find(PodKey pod, ContainerInstance instance) throws IOException {
        return instance.isRunning() ? Optional.of(watch(pod, instance)) : Optional.empty();
    }

    /** Notifies the listener once the container has ended. */
    public RunningContainer watch(PodKey pod, ContainerInstance instance) throws IOException {
        RunningContainer known = watched.get(instance.id());
        if (known != null && known.knowsAsMuchAs(instance)) {
            return known;
        }
        RunningContainer added = RunningContainer.of(instance, timekeeper);
        // one that was found on the disk while it was started here does not know its environment
        RunningContainer kept =
                watched.merge(instance.id(), added, (other, own) -> other.knowsAsMuchAs(instance) ? other : own);
        if (kept != added) {
            return kept;
        }
        added.ended().whenCompleteAsync((end, failure) -> ended(pod, added), timekeeper.blocking());
        return added;
    }

    private void ended(PodKey pod, RunningContainer container) {
        watched.remove(container.instance().id());
        container.killLeft();
        RuntimeEvents notified = events;
        if (notified != null) {
            notified.changed(pod.uid());
        }
    }

    /**
     * Stops containers, all at the same time. Returns when they have ended, and what their commands left was killed.
     *
     * @param gracePeriod the time after which those that have not ended are killed
     * @throws InterruptedException if the thread is interrupted; the containers were asked to end then
     */
    public void stop(List<RunningContainer> containers, Duration gracePeriod) throws IOException, InterruptedException {
        for (RunningContainer container : containers) {
            container.terminate();
        }
        long deadline = timekeeper.nanoTime() + Durations.nanos(gracePeriod);
        for (RunningContainer container : containers) {
            container.awaitEnd(deadline);
            container.killLeft();
        }
    }
}
