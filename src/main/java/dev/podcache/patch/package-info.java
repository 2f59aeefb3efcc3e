/**
 * The three ways to say what changes of a Kubernetes object: {@link dev.podcache.patch.MergePatch} (RFC 7386), {@link
 * dev.podcache.patch.JsonPatch} (RFC 6902) and {@link dev.podcache.patch.StrategicMergePatch}, which knows how core/v1
 * merges its lists. What sends patches and what accepts them share this package, so that what we send is what we
 * accept. Pure functions over Jackson trees: no threads, no I/O, nothing that is given is modified.
 *
 * <p>Read {@code StrategicMergePatch}, {@code MergeKeys} (the table), {@code StrategicApply}, {@code
 * StrategicDiff}, {@code ElementOrder}.
 */
@NullMarked
package dev.podcache.patch;

import org.jspecify.annotations.NullMarked;
