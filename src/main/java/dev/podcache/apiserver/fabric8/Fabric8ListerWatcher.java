package dev.podcache.apiserver.fabric8;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ListWatchSession;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** {@link ListerWatcher} of one kind, over the connections of watches and outside the limit. */
final class Fabric8ListerWatcher<T> implements ListerWatcher<T> {

    private static final String BY_NAME = "metadata.name=";
    private static final int PAGE = 500;

    private final ObjectSelection selection;
    private final ListWatchSession session;
    private final ObjectDecoder<T> decoder;
    private final Fabric8ListDecoder<T> listDecoder;

    /** The version that the next list of a collection must have at least: "0" for any, "" for the latest. */
    private volatile String listed = "0";

    Fabric8ListerWatcher(ObjectSelection selection, ListWatchSession session, ObjectDecoder<T> decoder) {
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
    record ObjectSelection(ObjectKind<?> kind, String namespace, String fieldSelector) {

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
        return selection.isByName()
                ? page("", timeout, ApiConnections.LONGEST_NAMED).thenApply(Fabric8ListDecoder.Page::listed)
                : pages(timeout);
    }

    /** The whole of a collection, from the server's cache if it has one, which needs no pages, or page by page. */
    private CompletableFuture<Listed<T>> pages(Duration timeout) {
        long began = session.nanoTime();
        String atLeast = listed;
        List<Fetched<T>> items = new ArrayList<>();
        // a limit makes another version than 0 the exact one, which may be long forgotten
        boolean pages = atLeast.isEmpty() || atLeast.equals("0");
        String query = (pages ? "limit=" + PAGE + "&" : "") + "resourceVersion=" + atLeast;
        return page(query, timeout, ApiConnections.LONGEST_LIST)
                .thenCompose(first -> rest(first, items, began, timeout))
                .exceptionallyCompose(failure -> {
                    boolean gone = ApiServerException.reasonOf(failure) == FailureReason.EXPIRED;
                    Duration left = left(began, timeout);
                    // a token that has expired, or a version that the server no longer has: once more, in one piece
                    return gone && !left.isNegative()
                            ? page("", left, ApiConnections.LONGEST_LIST).thenApply(Fabric8ListDecoder.Page::listed)
                            : CompletableFuture.failedFuture(failure);
                })
                .whenComplete((whole, failure) -> listed = whole == null ? "" : encoded(whole.resourceVersion()));
    }

    private CompletableFuture<Listed<T>> rest(
            Fabric8ListDecoder.Page<T> page, List<Fetched<T>> items, long began, Duration timeout) {
        items.addAll(page.listed().items());
        if (page.next().isEmpty()) {
            return CompletableFuture.completedFuture(
                    new Listed<>(ImmutableList.copyOf(items), page.listed().resourceVersion()));
        }
        Duration left = left(began, timeout);
        String query = "limit=" + PAGE + "&continue=" + encoded(page.next());
        return left.isNegative()
                ? CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                        FailureReason.TIMEOUT, "LIST " + selection, "not all pages came within " + timeout, null))
                : page(query, left, ApiConnections.LONGEST_LIST).thenCompose(next -> rest(next, items, began, timeout));
    }

    private CompletableFuture<Fabric8ListDecoder.Page<T>> page(String query, Duration timeout, int longest) {
        return session.list(
                ServerRequest.get("LIST " + selection, selection.path() + query),
                timeout,
                longest,
                listDecoder::decode);
    }

    private Duration left(long began, Duration timeout) {
        return timeout.minusNanos(session.nanoTime() - began);
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
