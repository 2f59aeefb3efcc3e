package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import org.jspecify.annotations.Nullable;

/** The last reported version of a pod's status, and the server's answer. */
final class ReportedVersion {

    private final long version;
    private final String serverUid;
    private final @Nullable PodStatus answered;

    /** The pod of the server that was found to have the status; used by full passes only, which run one at a time. */
    private @Nullable Pod compared;

    /**
     * Creates it when a report has completed.
     *
     * @param serverUid the UID of the pod at the server that it was reported for
     * @param answered the server's answer: normalised, or null if there was no such pod
     */
    ReportedVersion(long version, String serverUid, @Nullable PodStatus answered) {
        this.version = version;
        this.serverUid = serverUid;
        this.answered = answered;
    }

    /** Returns whether {@code newest} is to be reported to the pod with this UID. */
    boolean isBehind(VersionedPodStatus newest, String uidAtServer) {
        return version < newest.version() || !serverUid.equals(uidAtServer);
    }

    /**
     * Returns whether a pod lacks the reported status or is still to be deleted.
     *
     * @param pod as the API server last reported it; the same instance is compared once, because comparing the pods of a
     *     full node takes tens of milliseconds
     */
    @SuppressWarnings("ReferenceEquality") // a changed pod is another instance
    boolean differsAt(Pod pod, VersionedPodStatus newest) {
        if (answered == null) {
            return false;
        }
        if (PodStatusReport.isDeletable(pod, newest)) {
            return true;
        }
        if (pod == compared) {
            return false;
        }
        PodStatus atServer = PodStatusNormalizer.normalised(pod, PodParts.status(pod));
        // a server that drops a field it does not know answers with less than it was sent; a repeated PATCH would not
        // change that
        boolean differs =
                !PodStatusEquality.equal(atServer, newest.status()) && !PodStatusEquality.equal(atServer, answered);
        // equality with a status that is not reported yet says nothing about the reported one
        if (!differs && version == newest.version()) {
            compared = pod;
        }
        return differs;
    }
}
