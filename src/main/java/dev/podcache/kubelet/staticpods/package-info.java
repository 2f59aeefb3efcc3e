/**
 * Static pods, which come from files of the node and run without an API server, and the mirror pods that show them there.
 * {@link dev.podcache.kubelet.staticpods.StaticPodFolder} reads the files, {@link
 * dev.podcache.kubelet.staticpods.MirrorPods} creates and deletes the mirror pods. The pods themselves are run by {@code
 * kubelet.podsync}.
 *
 * <p>Reading order: {@code StaticPodFiles}, {@code StaticPodFolder}, {@code PodManifest}, {@code PodDefaults}, {@code
 * ApiReferences}, {@code MirrorPods}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken while held</th></tr>
 * <tr><td>{@code MirrorPods}</td><td>the static pods, their mirror pods as last seen, and the current
 * requests</td><td>the timer's</td></tr>
 * </table>
 *
 * <p>Not API, except {@code StaticPodFiles}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.staticpods;

import org.jspecify.annotations.NullMarked;
