/**
 * What a container gets from Secrets, ConfigMaps, Services and its own pod: its environment ({@link
 * dev.podcache.kubelet.podconfig.ContainerEnvironment}), the files of its volumes ({@link
 * dev.podcache.kubelet.podconfig.VolumePayloads}) and the Secrets to pull its image with ({@link
 * dev.podcache.kubelet.podconfig.ImagePullSecrets}). Objects are read through {@link dev.podcache.manager.Manager}s, so a pod
 * must be registered with them before. What cannot be had is one exception, {@link
 * dev.podcache.kubelet.podconfig.PodConfigException}, whose message is what the kubelet shows people in the pod's status.
 *
 * <p>Read {@code ContainerEnvironment} and {@code EnvironmentAssembly}, {@code VolumePayloads} and {@code
 * PayloadAssembly}, {@code PodObjects}, then what they share: {@code VariableExpansion}, {@code DownwardFields}, {@code
 * ContainerResources}, {@code ServiceVariables}. {@code AtomicWriter} stands alone. There are no locks: nothing is
 * shared but {@code WatchedServices}, which one watch writes and all others read.
 */
@NullMarked
package dev.podcache.kubelet.podconfig;

import org.jspecify.annotations.NullMarked;
