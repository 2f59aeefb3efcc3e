/**
 * Containers as processes of this machine, for {@code dev.podcache.kubelet.agent.ProcessRuntime}. There is no isolation:
 * no image, no namespaces, no limits.
 *
 * <p>The file system is the only state. Everything about a container is in its directory, so that a restarted agent
 * knows all that the agent before it knew:
 *
 * <pre>
 * supervise.sh                          runs one container: starts the command, keeps output and exit code
 * pods/&lt;UID&gt;/pod.json                   namespace and name of the pod
 *           /volumes/&lt;volume&gt;            written by VolumeDirectory
 *           /containers/&lt;container&gt;/&lt;n&gt;  one start of a container; the newest and the one before are kept
 *                      container.json   ID, image, restart count, time of the start
 *                      root/            what PODCACHE_ROOT names: working directory, links to volumes
 *                      supervisor       PID and start time of supervise.sh
 *                      command          PID and start time of the command
 *                      output.&lt;n&gt;       lines with time stamps
 *                      exit             exit code and time of the end
 * </pre>
 *
 * <p>Processes that commands left are not in files: the variable {@code PODCACHE_ROOT} of each process names its container,
 * see {@code ContainerProcesses}.
 *
 * <p>Reading order: {@code supervise.sh}, {@link dev.podcache.kubelet.process.ContainerStarter} and {@code
 * ContainerRoot}, {@link dev.podcache.kubelet.process.ContainerInstance} and {@code ProcessIdentity}, {@link
 * dev.podcache.kubelet.process.RunningContainers} and {@code RunningContainer}, {@link dev.podcache.kubelet.process.ContainerOutput},
 * {@code AttachedContainer}.
 *
 * <p>Locks: only the monitor of a {@code ContainerOutput}'s files, which is held while they are read or closed. A
 * container directory appears when its {@code container.json} does, which is after the start. An
 * {@code exit} file is created once, with its content, and never changes.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.process;

import org.jspecify.annotations.NullMarked;
