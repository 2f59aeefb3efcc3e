package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ListWatchSession;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.ObjectKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** {@link ListerWatcher} of one kind, over the connections of watches and outside the limit. */
final class Fabric8ListerWatcher<T> implements ListerWatcher<T> {

    private static final String BY_NAME = "metadata.name=";

    private final Selection selection;
    private final ListWatchSession session;
    private final ObjectDecoder<T> decoder;
    private final Fabric8ListDecoder<T> listDecoder;

    Fabric8ListerWatcher(Selection selection, ListWatchSession session, ObjectDecoder<T> decoder) {
        this.selection = selection;
        this.session = session;
        this.decoder = decoder;
        this.listDecoder = new Fabric8ListDecoder<>(selection.kind, decoder);
    }

    /**
     * Which objects.
     *
     * @param namespace empty for all, or for a kind that has none
     * @param fieldSelector empty for all
     */
    record Selection(ObjectKind<?> kind, String namespace, String fieldSelector) {

        boolean isByName() {
            return fieldSelector.startsWith(BY_NAME);
        }

        /** The collection's path, with a query that can be added to. */
        String path() {
            String selector = fieldSelector.isEmpty() ? "" : "fieldSelector=" + encoded(fieldSelector) + "&";
            return kind.collectionPath(namespace) + "?" + selector;
        }

        @Override
        public String toString() {
            return kind.plural()
                    + (namespace.isEmpty() ? "" : " in " + namespace)
                    + (fieldSelector.isEmpty() ? "" : " with " + fieldSelector);
        }
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        int longest = selection.isByName() ? ApiConnections.LONGEST_NAMED : ApiConnections.LONGEST_LIST;
        return session.list(
                ServerRequest.get("LIST " + selection, selection.path()), timeout, longest, listDecoder::decode);
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        String path = selection.path()
                + "watch=true&allowWatchBookmarks=true&resourceVersion=" + encoded(resourceVersion)
                + "&timeoutSeconds=" + Math.max(1, serverTimeout.toSeconds());
        int longest = selection.isByName() ? ApiConnections.LONGEST_NAMED : ApiConnections.LONGEST_OBJECT;
        return session.watch(ServerRequest.get("WATCH " + selection, path), longest, decoder, events);
    }

    @Override
    public String toString() {
        return selection.toString();
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
