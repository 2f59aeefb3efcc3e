package dev.podcache.apiserver;

import org.jspecify.annotations.Nullable;

/**
 * Decodes the objects that the API server sends, for GET, LIST and WATCH alike. Thread-safe.
 *
 * @param <T> the model class
 */
@FunctionalInterface
public interface ObjectDecoder<T> {

    /**
     * Decodes one object, without {@code metadata.managedFields}, which takes memory and has no readers here.
     *
     * @param json contains one JSON object in UTF-8, {@code length} bytes from {@code offset}; not kept
     * @throws ApiServerException {@link dev.podcache.object.FailureReason#UNREADABLE} if the bytes are not an object of
     *     this kind; the message never quotes them
     */
    Fetched<T> decode(byte[] json, int offset, int length);

    /**
     * Returns null if the object must be decoded. Otherwise a filter of this decoder does not accept the object, and
     * its version is returned; "" if it has none. The default implementation has no filter and returns null.
     *
     * @param json as for {@link #decode}
     */
    default @Nullable String skippedVersion(byte[] json, int offset, int length) {
        return null;
    }
}
