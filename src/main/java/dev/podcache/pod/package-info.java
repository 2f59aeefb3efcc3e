/**
 * Which Secrets and ConfigMaps does a pod need, and is it over? Pure functions over a pod. No threads, no I/O, nothing
 * remembered.
 *
 * <p>Read {@code PodReferences}, then {@code SecretNames} and {@code ConfigMapNames}; {@code PodEnd} stands alone.
 */
@NullMarked
package dev.podcache.pod;

import org.jspecify.annotations.NullMarked;
