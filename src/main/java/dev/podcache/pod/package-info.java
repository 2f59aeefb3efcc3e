/**
 * Which Secrets and ConfigMaps does a pod need? Pure functions over a pod, one answer for each of the two kinds. No
 * threads, no I/O, nothing remembered.
 *
 * <p>Read {@code PodReferences}, then {@code SecretNames} and {@code ConfigMapNames}.
 */
@NullMarked
package dev.podcache.pod;

import org.jspecify.annotations.NullMarked;
