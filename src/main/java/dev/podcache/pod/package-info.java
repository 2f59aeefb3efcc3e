/**
 * Pure functions over a pod: the Secrets and ConfigMaps that it needs, and whether it has ended. No threads, no I/O, no
 * state.
 *
 * <p>Read {@code PodReferences}, then {@code SecretNames} and {@code ConfigMapNames}; {@code ReferencePaths} adds the paths for
 * people; {@code PodEnd} is independent.
 */
@NullMarked
package dev.podcache.pod;

import org.jspecify.annotations.NullMarked;
