/**
 * Pure functions over a pod: the Secrets and ConfigMaps that it needs, whether it has ended, what it requests. No
 * threads, no I/O, no state.
 *
 * <p>Read {@code PodReferences}, then {@code PodSpecNames}, the walk over a spec; {@code ReferencePaths} adds the paths for
 * people; {@code PodEnd}, {@code RestartRules}, {@code PodResources}, {@code QosClass}, {@code CriticalPods},
 * {@code NodeAffinityMatch} and {@code TaintToleration} are independent.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.pod;

import org.jspecify.annotations.NullMarked;
