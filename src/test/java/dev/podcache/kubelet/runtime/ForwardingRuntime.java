package dev.podcache.kubelet.runtime;

import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A runtime that forwards every call to a hollow one. Test doubles override single methods. */
public abstract class ForwardingRuntime implements PodRuntime {

    /** Receives the calls. */
    protected final HollowRuntime hollow;

    /** Creates a runtime that forwards to {@code hollow}. */
    protected ForwardingRuntime(HollowRuntime hollow) {
        this.hollow = hollow;
    }

    @Override
    public String type() {
        return hollow.type();
    }

    @Override
    public void listen(RuntimeEvents events) {
        hollow.listen(events);
    }

    @Override
    public RuntimeStatus health() {
        return hollow.health();
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
    public void startContainer(Pod pod, Container container, Launch launch) {
        hollow.startContainer(pod, container, launch);
    }

    @Override
    public void stopContainer(PodKey pod, String container, Duration gracePeriod) {
        hollow.stopContainer(pod, container, gracePeriod);
    }

    @Override
    public void stopPod(PodKey pod, Duration gracePeriod) {
        hollow.stopPod(pod, gracePeriod);
    }

    @Override
    public void forget(PodKey pod) {
        hollow.forget(pod);
    }
}
