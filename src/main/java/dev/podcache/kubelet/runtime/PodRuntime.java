package dev.podcache.kubelet.runtime;

import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Runs the containers of pods. Users of the node agent implement it. Implementations must be thread-safe.
 *
 * <p>The agent decides what runs: the order of init containers, restarts with back-off, sidecars, probes, hooks, grace
 * periods. The runtime starts and stops single containers, and notifies the agent through {@link RuntimeEvents} when a
 * container changes by itself. It keeps the last state of a container that ended until the container is started again
 * or the pod is forgotten. A runtime that restarts containers by itself shows a container as waiting meanwhile.
 *
 * <p>A pod is identified by its UID. Calls for one pod are sequential, except {@link #status} and the {@link #stopContainer} of
 * single containers, which may run in parallel. Calls for different pods come from different threads. All methods except
 * {@link #type} may block. While a call does not return, only its pod waits: after 30 s, an event and a condition of the pod say
 * so. If a call throws, the pod's status or an event shows the exception, and a later sync repeats the call.
 *
 * <table>
 * <caption>When the agent interrupts the thread of a call, and what must hold then</caption>
 * <tr><th>call</th><th>when</th><th>after the interrupt</th></tr>
 * <tr><td>{@link #startContainer}</td><td>the pod is to end, or to end sooner; the agent is closed</td><td>the container does not
 * run</td></tr>
 * <tr><td>{@link #mount}</td><td>likewise</td><td>files are complete or as before</td></tr>
 * <tr><td>{@link #stopContainer}, {@link #stopPod}</td><td>likewise</td><td>containers may run on; the call is repeated</td></tr>
 * <tr><td>{@link #status}, {@link #forget}</td><td>likewise</td><td>the call is repeated</td></tr>
 * <tr><td>{@link #type}, {@link #listen}, {@link #health}, {@link #pods}</td><td>never</td><td></td></tr>
 * </table>
 *
 * <p>The agent closes a runtime that is {@link AutoCloseable} when it is closed itself, after its last call. Containers should go
 * on then.
 *
 * <p>Optional capabilities are interfaces of their own, which the same object implements: {@link ContainerLogs}, {@link
 * ContainerExec}, {@link ContainerAttach}, {@link PodPortForward}, {@link ContainerStatistics}, {@link DiskReclaim}, {@link
 * ImagePull}, {@link ContainerResize}, {@link PodIsolation}, {@link LocalVolumes}.
 */
public interface PodRuntime {

    /** Returns the name of the runtime in the Node's status, such as {@code containerd}. Constant; must not block. */
    String type();

    /**
     * Starts the runtime. Called before all other methods except {@link #type}; again after 5 s if it throws. Containers
     * that ran before a restart of the process should be found again here.
     *
     * @param events to be notified from now on
     */
    void listen(RuntimeEvents events);

    /**
     * Returns whether containers can be started. Called every 5 s, and after {@link RuntimeEvents#healthChanged}. A
     * runtime that does not answer for 30 s makes the node not ready. Null makes it not ready at once.
     */
    RuntimeStatus health();

    /**
     * Returns all pods of which the runtime knows a container. The agent stops and forgets those that neither the API
     * server nor a file of static pods has. While the call has not returned for 15 s, the node is not ready.
     */
    List<PodKey> pods();

    /**
     * Returns the current state of a pod's containers. Each start of a container gives it a new container ID. The agent
     * fills in what a status leaves out: the image, the restart count, the last state, and whether the container is
     * started and ready. A container of which the runtime says that it is not ready is not, whatever its probes say; the
     * same for started. An image may be as the spec named it or as the runtime resolved it. If a container that ended has no
     * {@code finishedAt}, that is the time when the agent first saw its end; the back-off of its restart counts from then.
     * Called several times in each sync, so it should be fast.
     */
    PodState status(Pod pod);

    /**
     * Writes the content of a pod's volumes. Called before the pod's first container is started, and again when a
     * Secret or ConfigMap has changed and at every later sync. A volume that could not be resolved is not in the map. Keep
     * its existing files. {@code VolumeDirectory} writes the files to a directory.
     *
     * @param volumes the files by path, for each volume whose content comes from Secrets, ConfigMaps, tokens or the pod
     *     itself. The keys are volume names in the order of the pod's spec; both maps are unmodifiable
     * @throws IOException if the volumes could not be written
     * @throws InterruptedException if the thread is interrupted
     */
    void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) throws IOException, InterruptedException;

    /**
     * Starts a container that never ran or that has ended. An ephemeral container is started once, at any time after {@link
     * #mount}; it may be the first container of its pod, and the only one, if the others cannot start. It is among {@code
     * pod.getSpec().getEphemeralContainers()}, with the {@code targetContainerName} whose processes it should see, which was started
     * before. Returns when it has started; does not await its end. May also
     * return earlier, when it is certain that the container is about to start: {@link #status} must show it from then on, as
     * waiting until it runs, and the runtime tells {@link RuntimeEvents#changed} when it does. A container that then does not
     * start is shown as terminated.
     *
     * @throws IOException if the container could not be started; the call is repeated after 10 s, then after twice as long
     *     each time, at most 5 minutes
     * @throws InterruptedException if the thread is interrupted; then the container must not run
     */
    void startContainer(Pod pod, Container container, Launch launch) throws IOException, InterruptedException;

    /**
     * Stops one container. Returns when it no longer runs; from then on {@link #status} shows how it ended. Has no
     * effect on a container that does not run.
     *
     * @param gracePeriod the time that the container has to end by itself
     * @throws InterruptedException if the thread is interrupted, because the grace period was shortened or the agent is
     *     closed; this agent or the next one repeats the call
     */
    void stopContainer(PodKey pod, String container, Duration gracePeriod) throws IOException, InterruptedException;

    /**
     * Stops all containers of a pod, as {@link #stopContainer} does, all at the same time.
     *
     * @param gracePeriod the time that the containers have to end by themselves
     */
    void stopPod(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException;

    /**
     * Discards the state, volumes and logs of a pod that no longer exists and of which no container runs. Has no effect
     * on an unknown pod.
     */
    void forget(PodKey pod) throws IOException;
}
