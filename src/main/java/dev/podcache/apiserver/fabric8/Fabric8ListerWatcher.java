package dev.podcache.apiserver.fabric8;

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

/** Implements {@link ListerWatcher} over the connections of watches, without the client-side limit. */
final class Fabric8ListerWatcher<T> implements ListerWatcher<T> {

    private static final String BY_NAME = "metadata.name=";
    private static final int PAGE = 500;

    private final ObjectSelection selection;
    private final ListWatchSession session;
    private final ObjectDecoder<T> decoder;
    private final Fabric8ListDecoder<T> listDecoder;
    private final StreamedLists streamed;

    private final boolean latest;

    /** The minimum resourceVersion of the next list of a collection: "0" for any, "" for the latest. */
    private volatile String minimumVersion;

    /**
     * Makes a lister-watcher.
     *
     * @param latest whether each list of a collection is a quorum read, like each list by name. Otherwise the server
     *     may answer from its watch cache, but not with an older state than that of the last list
     */
    Fabric8ListerWatcher(
            ObjectSelection selection,
            ListWatchSession session,
            ObjectDecoder<T> decoder,
            StreamedLists streamed,
            boolean latest) {
        this.selection = selection;
        this.latest = latest;
        this.minimumVersion = latest ? "" : "0";
        this.session = session;
        this.decoder = decoder;
        this.listDecoder = new Fabric8ListDecoder<>(selection.kind, decoder);
        this.streamed = streamed;
    }

    /**
     * The objects to list and watch.
     *
     * @param namespace empty for all namespaces, or for a cluster-scoped kind
     * @param fieldSelector empty for all objects
     */
    record ObjectSelection(ObjectKind<?> kind, String namespace, String fieldSelector) {

        boolean isByName() {
            return fieldSelector.startsWith(BY_NAME);
        }

        /** Returns the path of the collection and the start of its query, to which parameters can be appended. */
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

    /** Lists the whole collection, page by page unless the server answers from its watch cache. */
    private CompletableFuture<Listed<T>> pages(Duration timeout) {
        long startedAt = session.nanoTime();
        String version = minimumVersion;
        List<Fetched<T>> items = new ArrayList<>();
        // with a limit, any version but 0 would be an exact one, which the server may no longer have
        boolean paged = version.isEmpty() || version.equals("0");
        String query = (paged ? "limit=" + PAGE + "&" : "") + "resourceVersion=" + version;
        return page(query, timeout, ApiConnections.LONGEST_LIST)
                .thenCompose(first -> remainingPages(first, items, startedAt, timeout))
                .exceptionallyCompose(failure -> {
                    boolean expired = ApiServerException.reasonOf(failure) == FailureReason.EXPIRED;
                    Duration left = left(startedAt, timeout);
                    // the continue token or the version has expired: list everything in one answer
                    return expired && !left.isNegative()
                            ? page("", left, ApiConnections.LONGEST_LIST).thenApply(Fabric8ListDecoder.Page::listed)
                            : CompletableFuture.failedFuture(failure);
                })
                .whenComplete(
                        (all, failure) -> minimumVersion = all == null || latest ? "" : encoded(all.resourceVersion()));
    }

    private CompletableFuture<Listed<T>> remainingPages(
            Fabric8ListDecoder.Page<T> page, List<Fetched<T>> items, long startedAt, Duration timeout) {
        items.addAll(page.listed().items());
        if (page.next().isEmpty()) {
            return CompletableFuture.completedFuture(
                    new Listed<>(items, page.listed().resourceVersion()));
        }
        Duration left = left(startedAt, timeout);
        String query = "limit=" + PAGE + "&continue=" + encoded(page.next());
        return left.isNegative()
                ? CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                        FailureReason.TIMEOUT, "LIST " + selection, "not all pages came within " + timeout, null))
                : page(query, left, ApiConnections.LONGEST_LIST)
                        .thenCompose(next -> remainingPages(next, items, startedAt, timeout));
    }

    private CompletableFuture<Fabric8ListDecoder.Page<T>> page(String query, Duration timeout, int longest) {
        return session.list(
                ServerRequest.get("LIST " + selection, selection.path() + query),
                timeout,
                longest,
                listDecoder::decode);
    }

    private Duration left(long startedAt, Duration timeout) {
        return timeout.minusNanos(session.nanoTime() - startedAt);
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return watchFrom("resourceVersion=" + encoded(resourceVersion), serverTimeout, events);
    }

    @Override
    public boolean streamsLists() {
        // lists of collections come in pages, which costs the server less
        return selection.isByName() && streamed.supported();
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        // without a resourceVersion, the state is the latest one
        return watchFrom("sendInitialEvents=true&resourceVersionMatch=NotOlderThan", serverTimeout, events);
    }

    @Override
    public void streamRefused(ApiServerException failure) {
        streamed.refused(failure);
    }

    private WatchHandle watchFrom(String start, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        String path = selection.path()
                + "watch=true&allowWatchBookmarks=true&" + start
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
