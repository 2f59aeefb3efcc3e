/**
 * The vocabulary of all other packages: {@link dev.podcache.object.ObjectKey} and {@link
 * dev.podcache.object.ObjectKind} identify an object, {@link dev.podcache.object.Referrer} an owner that needs it, and
 * {@link dev.podcache.object.ObjectUnavailableException} explains why a get failed. Values only: no threads, no I/O, no
 * imports from other packages of Podcache.
 *
 * <p>{@code ModelJson} is the only way between a class of fabric8's model and a JSON tree, whichever version of fabric8 there
 * is; {@code ModelTypes} treats such trees as the API server does. Both are not API.
 *
 * <p>Read {@code ObjectKey}, then {@code Reference}, then {@code ObjectUnavailableException}.
 */
@NullMarked
package dev.podcache.object;

import org.jspecify.annotations.NullMarked;
