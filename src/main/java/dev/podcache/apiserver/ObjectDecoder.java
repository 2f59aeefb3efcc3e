package dev.podcache.apiserver;

/**
 * The one place where bytes of the API server become objects, for GET, LIST and WATCH alike. Thread-safe.
 *
 * @param <T> the model class
 */
@FunctionalInterface
public interface ObjectDecoder<T> {

    /**
     * Decodes one object and drops what nobody reads ({@code metadata.managedFields}).
     *
     * @param json one JSON object in UTF-8, from {@code offset}, {@code length} bytes; not kept
     * @throws ApiServerException {@link dev.podcache.object.FailureReason#UNREADABLE} if it is no such object; the
     *     message never quotes the bytes
     */
    Fetched<T> decode(byte[] json, int offset, int length);
}
