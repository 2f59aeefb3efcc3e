package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A hollow runtime whose health a test sets. */
final class NotifyingRuntime implements PodRuntime {

    private final HollowRuntime hollow;
    volatile RuntimeStatus status = RuntimeStatus.ready("1");
    volatile boolean failsToStart;
    private volatile @Nullable RuntimeEvents events;

    NotifyingRuntime(Timekeeper timekeeper) {
        hollow = new HollowRuntime(timekeeper);
    }

    RuntimeEvents events() {
        if (events == null) {
            throw new AssertionError("the runtime was not started");
        }
        return events;
    }

    @Override
    public String type() {
        return "notifying";
    }

    @Override
    public void start(RuntimeEvents toNotify) {
        if (failsToStart) {
            throw new IllegalStateException("for the test");
        }
        events = toNotify;
        hollow.start(toNotify);
    }

    @Override
    public RuntimeStatus health() {
        return status;
    }

    @Override
    public List<PodKey> pods() {
        return hollow.pods();
    }

    @Override
    public PodState status(Pod pod) {
        return hollow.status(pod);
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) {
        hollow.mount(pod, volumes);
    }

    @Override
    public void start(Pod pod, Container container, Launch launch) {
        hollow.start(pod, container, launch);
    }

    @Override
    public void stop(PodKey pod, String container, Duration gracePeriod) {
        hollow.stop(pod, container, gracePeriod);
    }

    @Override
    public void stop(PodKey pod, Duration gracePeriod) {
        hollow.stop(pod, gracePeriod);
    }

    @Override
    public void forget(PodKey pod) {
        hollow.forget(pod);
    }
}
