/**
 * The nouns that every other package speaks: which object ({@link dev.podcache.object.ObjectKey}), of which kind
 * ({@link dev.podcache.object.ObjectKind}), needed by whom ({@link dev.podcache.object.Referrer}) and why it could not
 * be had ({@link dev.podcache.object.ObjectUnavailableException}). Values only: no threads, no I/O, no imports of ours.
 *
 * <p>Read {@code ObjectKey}, then {@code Reference}, then {@code ObjectUnavailableException}.
 */
@NullMarked
package dev.podcache.object;

import org.jspecify.annotations.NullMarked;
