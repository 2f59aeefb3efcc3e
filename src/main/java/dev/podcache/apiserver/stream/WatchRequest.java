package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ObjectDecoder;

/**
 * What to watch.
 *
 * @param what for messages, such as {@code WATCH Pods with spec.nodeName=worker-1}
 * @param path path and query below the server's URL
 * @param decoder reads the objects of the events
 */
public record WatchRequest<T>(String what, String path, ObjectDecoder<T> decoder) {}
