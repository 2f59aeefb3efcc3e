/**
 * The configuration that a container gets from Secrets, ConfigMaps, Services, tokens and its own pod: how it is started
 * ({@link dev.podcache.kubelet.podconfig.ContainerConfiguration}), the files of its volumes ({@link
 * dev.podcache.kubelet.podconfig.VolumePayloads}) and the Secrets to pull its image with ({@link
 * dev.podcache.kubelet.podconfig.ImagePullSecrets}). {@link dev.podcache.kubelet.podconfig.VolumeDirectory} writes
 * volumes for runtimes whose containers use files of this machine. Objects are read through {@link
 * dev.podcache.manager.Manager}s, with which the pod must be registered first. Every failure is a {@link
 * dev.podcache.kubelet.podconfig.PodConfigException}, whose message is the one that the kubelet shows in the pod's
 * status.
 *
 * <p>Types of volumes that are not made of these sources are the affair of the runtime, unless the caller of {@code
 * VolumePayloads} says that the runtime does not make them: then they fail with their type.
 *
 * <p>Reading order: {@code ContainerConfiguration} and {@code ContainerMounts}, {@code ContainerEnvironment} and {@code
 * EnvironmentAssembly}, {@code VolumePayloads} and {@code PayloadAssembly}, {@code PodObjects}, {@code
 * ServiceAccountTokens} and {@code TokenState}, then the helpers: {@code VariableExpansion}, {@code DownwardFields},
 * {@code ContainerResources}, {@code ServiceVariables}. {@code VolumeDirectory} with {@code AtomicWriter}, {@code
 * FileOwnership}, {@code SubPath}, {@code MemoryDirectory} and {@code Removal} is independent of the rest.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>monitor of a {@code TokenState}</td><td>the last token and the last failure of one source; not held during a
 * request</td><td>none</td></tr>
 * </table>
 *
 * <p>{@code WatchedServices} has no lock: one reflector writes it, all other threads only read it. A {@code
 * VolumeDirectory} relies on its caller to make one call at a time for a pod.
 *
 * <p>Not API, except {@code VolumeDirectory}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.podconfig;

import org.jspecify.annotations.NullMarked;
