/**
 * The three patch formats of the Kubernetes API: {@link dev.podcache.patch.MergePatch} (RFC 7386), {@link
 * dev.podcache.patch.JsonPatch} (RFC 6902) and {@link dev.podcache.patch.StrategicMergePatch}, which merges the lists
 * of core/v1. The client and the embedded API server share this package, so both follow the same rules. Pure functions
 * over Jackson trees: no threads, no I/O, no argument is modified.
 *
 * <p>Read {@code StrategicMergePatch}, {@code MergeKeys} (the table), {@code StrategicApply}, {@code
 * StrategicDiff}, {@code ElementOrder}.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.patch;

import org.jspecify.annotations.NullMarked;
