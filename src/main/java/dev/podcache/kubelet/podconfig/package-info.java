/**
 * The configuration that a container gets from Secrets, ConfigMaps, Services and its own pod: its environment ({@link
 * dev.podcache.kubelet.podconfig.ContainerEnvironment}), the files of its volumes ({@link
 * dev.podcache.kubelet.podconfig.VolumePayloads}) and the Secrets to pull its image with ({@link
 * dev.podcache.kubelet.podconfig.ImagePullSecrets}). Objects are read through {@link
 * dev.podcache.manager.Manager}s, with which the pod must be registered first. Every failure is a {@link
 * dev.podcache.kubelet.podconfig.PodConfigException}, whose message is the one that the kubelet shows in the pod's
 * status.
 *
 * <p>Reading order: {@code ContainerEnvironment} and {@code EnvironmentAssembly}, {@code VolumePayloads} and {@code
 * PayloadAssembly}, {@code PodObjects}, then the helpers of both: {@code VariableExpansion}, {@code DownwardFields},
 * {@code ContainerResources}, {@code ServiceVariables}. {@code AtomicWriter} is independent of the rest.
 *
 * <p>The package has no locks. Its only shared mutable state is in {@code WatchedServices}: one reflector writes it,
 * all other threads only read it.
 */
@NullMarked
package dev.podcache.kubelet.podconfig;

import org.jspecify.annotations.NullMarked;
