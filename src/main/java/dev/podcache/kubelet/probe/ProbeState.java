package dev.podcache.kubelet.probe;

import org.jspecify.annotations.Nullable;

/** The result of one probe of one container, counted by the probe's thresholds. Not thread-safe. */
final class ProbeState {

    // follows doProbe of pkg/kubelet/prober/worker.go of Kubernetes

    private final ProbeKind kind;
    private final int successThreshold;
    private final int failureThreshold;

    private String containerId = "";
    private ProbeResult result;
    private ProbeResult lastResult = ProbeResult.UNKNOWN;
    private int resultRun;
    private boolean onHold;

    /** Makes a state without a container. Thresholds below 1 count as 1. */
    ProbeState(ProbeKind kind, int successThreshold, int failureThreshold) {
        this.kind = kind;
        this.successThreshold = successThreshold;
        this.failureThreshold = failureThreshold;
        this.result = kind.initial();
    }

    /**
     * Begins again if this is another container than before.
     *
     * @param initial the result until the first probe; null for the default of this kind of probe
     * @return whether it is another container
     */
    boolean container(String newContainerId, @Nullable ProbeResult initial) {
        if (newContainerId.equals(containerId)) {
            return false;
        }
        containerId = newContainerId;
        result = initial == null ? kind.initial() : initial;
        lastResult = ProbeResult.UNKNOWN;
        resultRun = 0;
        onHold = false;
        return true;
    }

    /** Records that the container does not run. The failure of a container that is to be restarted stays. */
    void notRunning() {
        if (!onHold) {
            result = ProbeResult.FAILURE;
        }
    }

    /** Records that the pod is being deleted, so that nothing restarts the container any more. */
    void deleted() {
        result = ProbeResult.SUCCESS;
        onHold = false;
    }

    /** Counts a check. Returns whether it changed the result. */
    boolean checked(boolean success) {
        ProbeResult latest = success ? ProbeResult.SUCCESS : ProbeResult.FAILURE;
        resultRun = latest == lastResult ? resultRun + 1 : 1;
        lastResult = latest;
        if (resultRun < (success ? successThreshold : failureThreshold)) {
            return false;
        }
        ProbeResult before = result;
        result = latest;
        if (!success && kind != ProbeKind.READINESS) {
            // a command must not be run in a container that is being stopped (kubernetes/kubernetes issue 21751)
            onHold = true;
            resultRun = 0;
        }
        return result != before;
    }

    /** Returns the ID of the container that the result is about; "" if there was none yet. */
    String containerId() {
        return containerId;
    }

    ProbeResult result() {
        return result;
    }

    /** Returns whether a liveness or startup probe failed, so that no check follows until the container is restarted. */
    boolean onHold() {
        return onHold;
    }

    /** Returns the number of equal outcomes in a row. */
    int resultRun() {
        return resultRun;
    }
}
