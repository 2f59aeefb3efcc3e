/**
 * Pure functions over a pod: the Secrets and ConfigMaps that it needs, whether it has ended, what it requests. No
 * threads, no I/O, no state.
 *
 * <p>Read {@code PodReferences}, then {@code SecretNames} and {@code ConfigMapNames}; {@code ReferencePaths} adds the paths for
 * people; {@code PodEnd}, {@code PodResources}, {@code QosClass} and {@code CriticalPods} are independent.
 */
@NullMarked
package dev.podcache.pod;

import org.jspecify.annotations.NullMarked;
