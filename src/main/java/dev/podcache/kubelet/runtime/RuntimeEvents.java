package dev.podcache.kubelet.runtime;

/**
 * The notifications from a {@link PodRuntime} to its agent. Without them, the agent sees a change of a pod at the pod's
 * next sync, which is 1 to 1.5 min after the last one by default, and a change of health within 5 s. Calls may come from any
 * thread, and do not block. After the agent is closed, they have no effect.
 */
public interface RuntimeEvents {

    /**
     * Notifies the agent that {@link PodRuntime#status} of a pod has changed, for example because a container ended. The
     * agent syncs the pod at once. Call it after the change can be seen in the status. A change that a call of the agent
     * made, such as {@code startContainer}, needs no notification.
     *
     * @param podUid the UID of the pod; ignored if the node has no such pod
     */
    void changed(String podUid);

    /**
     * Notifies the agent that {@link PodRuntime#health} has changed. The agent reports the Node's Ready condition at
     * once.
     */
    void healthChanged();
}
