package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import org.jspecify.annotations.Nullable;

/** The last reported version of a pod's status, and the server's answer. */
final class ReportedVersion {

    private final long version;
    private final String serverUid;
    private final @Nullable PodStatus answered;

    /**
     * The pod that the watch showed when it was found to have the status, or when the server said that it is gone. Used
     * by full passes only, which run one at a time.
     */
    private @Nullable Pod compared;

    private ReportedVersion(long version, String serverUid, @Nullable PodStatus answered, @Nullable Pod compared) {
        this.version = version;
        this.serverUid = serverUid;
        this.answered = answered;
        this.compared = compared;
    }

    /**
     * Returns what is known when a report has completed.
     *
     * @param serverUid the UID of the pod at the server that it was reported for
     * @param answered the server's normalised answer
     */
    static ReportedVersion answered(VersionedPodStatus reported, String serverUid, PodStatus answered) {
        return new ReportedVersion(reported.version(), serverUid, answered, null);
    }

    /**
     * Returns what is known when the server has said that there is no such pod.
     *
     * @param shown the pod as the watch shows it nevertheless; null if it does not
     */
    static ReportedVersion gone(VersionedPodStatus reported, String serverUid, @Nullable Pod shown) {
        return new ReportedVersion(reported.version(), serverUid, null, shown);
    }

    /** Returns whether {@code newest} is to be reported to the pod with this UID. */
    boolean isBehind(VersionedPodStatus newest, String uidAtServer) {
        return version < newest.version() || !serverUid.equals(uidAtServer);
    }

    /**
     * Returns whether a pod lacks the reported status or is still to be deleted, or is shown anew after the server said
     * that it is gone.
     *
     * @param pod as the API server last reported it; the same instance is compared once, because comparing the pods of a
     *     full node takes tens of milliseconds
     */
    @SuppressWarnings("ReferenceEquality") // a changed pod is another instance
    boolean differsAt(Pod pod, VersionedPodStatus newest) {
        if (answered == null) {
            return pod != compared;
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
