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
     * Returns the version of an object that is not to be decoded, because nobody asked for it; "" if it has none. Returns
     * null if it is to be decoded, as all objects are unless the decoder has a filter.
     *
     * @param json as for {@link #decode}
     */
    default @Nullable String skippedVersion(byte[] json, int offset, int length) {
        return null;
    }
}
