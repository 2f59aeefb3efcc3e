package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.stream.Lane;
import dev.podcache.apiserver.stream.ServerRequest;
import dev.podcache.apiserver.stream.WatchConnections;
import dev.podcache.apiserver.stream.WatchRequest;
import dev.podcache.object.ObjectKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * {@link ListerWatcher} of one kind: lists and watches over our own connections, outside the limit. Where those cannot
 * carry many streams each, lists go over the caller's client.
 */
final class Fabric8ListerWatcher<T> implements ListerWatcher<T> {

    private final Selection selection;
    private final Requests requests;
    private final Lane lane;
    private final ObjectDecoder<T> decoder;
    private final Fabric8ListDecoder<T> listDecoder;

    Fabric8ListerWatcher(
            Selection selection, Requests requests, WatchConnections connections, ObjectDecoder<T> decoder) {
        this.selection = selection;
        this.requests = requests;
        this.lane = connections.lane();
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
        CompletableFuture<Listed<T>> result = new CompletableFuture<>();
        ServerRequest get = ServerRequest.get("LIST " + selection, selection.path());
        lane.read(get.what(), get.path(), timeout, listDecoder::decode).whenComplete((listed, failure) -> {
            if (listed == null) {
                result.completeExceptionally(failure);
            } else if (listed.isPresent()) {
                result.complete(listed.get());
            } else {
                relay(requests.sendUnlimited(get, timeout, listDecoder::decode), result);
            }
        });
        return result;
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        String path = selection.path()
                + "watch=true&allowWatchBookmarks=true&resourceVersion=" + encoded(resourceVersion)
                + "&timeoutSeconds=" + Math.max(1, serverTimeout.toSeconds());
        return lane.open(new WatchRequest<>("WATCH " + selection, path, decoder), events);
    }

    @Override
    public String toString() {
        return selection.toString();
    }

    private static <R> void relay(CompletableFuture<R> from, CompletableFuture<R> to) {
        from.whenComplete((value, failure) -> {
            if (failure == null) {
                to.complete(value);
            } else {
                to.completeExceptionally(failure);
            }
        });
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
