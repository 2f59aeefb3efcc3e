package dev.podcache.apiserver.fabric8;

import com.google.common.base.Strings;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Durations;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Implements {@link ListerWatcher} over the connections of watches, without the client-side limit. */
final class Fabric8ListerWatcher<T> implements ListerWatcher<T> {

    private static final int PAGE = 500;

    private final ObjectSelection selection;
    private final ApiConnections.Session session;
    private final ObjectDecoder<T> decoder;
    private final StreamedLists streamed;

    /** The most objects of a page: less after a page that was too long. */
    private volatile int pageSize = PAGE;

    /** The minimum resourceVersion of the next list of a collection: "0" for any, "" for the latest; null if each is of the latest. */
    private volatile @Nullable String minimumVersion;

    /**
     * The objects to list and watch. Keeps its parts, not its texts, because there is one for each watch.
     *
     * @param namespace empty for all namespaces, or for a cluster-scoped kind
     * @param condition the start of the field selector, such as {@code spec.nodeName=}; empty for all objects
     * @param value the rest of the field selector, such as a name
     */
    record ObjectSelection(ObjectKind<?> kind, String namespace, String condition, String value) {

        private static final String NAME = "metadata.name=";

        /** Returns the selection of one object. */
        static ObjectSelection byName(ObjectKind<?> kind, String namespace, String name) {
            return new ObjectSelection(kind, namespace, NAME, name);
        }

        /**
         * Returns the selection of the objects that match a field selector.
         *
         * @param fieldSelector such as {@code spec.nodeName=worker-1}; empty for all objects
         */
        static ObjectSelection of(ObjectKind<?> kind, String namespace, String fieldSelector) {
            int value = fieldSelector.indexOf('=') + 1;
            return new ObjectSelection(
                    kind, namespace, fieldSelector.substring(0, value), fieldSelector.substring(value));
        }

        /** Returns whether there is at most one such object. */
        boolean isByName() {
            return condition.equals(NAME) && !(kind.namespaced() && namespace.isEmpty());
        }

        /** Returns the path of the collection and the start of its query, to which parameters can be appended. */
        String path() {
            String selector = fieldSelector();
            return kind.collectionPath(namespace)
                    + (selector.isEmpty() ? "?" : "?fieldSelector=" + encoded(selector) + "&");
        }

        private String fieldSelector() {
            return condition + value;
        }

        @Override
        public String toString() {
            String selector = fieldSelector();
            return kind.plural()
                    + (namespace.isEmpty() ? "" : " in " + namespace)
                    + (selector.isEmpty() ? "" : " with " + selector);
        }
    }

    /**
     * The request of a watch. Keeps its parts, not its texts, because it lasts as long as the watch.
     *
     * @param version the version after which the watch begins, or empty; null for a watch that begins with a list
     * @param seconds how long the server is asked to keep the watch open
     */
    private record WatchRequest(
            ObjectSelection selection, @Nullable String version, int seconds) implements ServerRequest {

        @Override
        public String what() {
            return "WATCH " + selection;
        }

        @Override
        public String method() {
            return "GET";
        }

        @Override
        public String path() {
            // without a resourceVersion, a list has the latest state
            String start = version == null
                    ? "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                    : "resourceVersion=" + encoded(version);
            return selection.path() + "watch=true&allowWatchBookmarks=true&" + start + "&timeoutSeconds=" + seconds;
        }

        @Override
        public @Nullable Body body() {
            return null;
        }

        @Override
        public String toString() {
            return what();
        }
    }

    /**
     * Makes a lister-watcher.
     *
     * @param latest whether each list of a collection is a quorum read, like each list by name. Otherwise the server
     *     may answer from its watch cache, but not with an older state than that of the last list
     */
    Fabric8ListerWatcher(
            ObjectSelection selection,
            ApiConnections.Session session,
            ObjectDecoder<T> decoder,
            StreamedLists streamed,
            boolean latest) {
        this.selection = selection;
        this.minimumVersion = latest ? null : "0";
        this.session = session;
        this.decoder = decoder;
        this.streamed = streamed;
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        return list(timeout, () -> {});
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout, Runnable written) {
        return selection.isByName()
                ? page("", timeout, ApiConnections.LONGEST_NAMED, written).thenApply(Fabric8ListDecoder.Page::listed)
                : pages(timeout, written);
    }

    /** Lists the whole collection, page by page unless the server answers from its watch cache. */
    private CompletableFuture<Listed<T>> pages(Duration timeout, Runnable written) {
        boolean latest = minimumVersion == null;
        return pages(Strings.nullToEmpty(minimumVersion), session.nanoTime(), timeout, written)
                .whenComplete((all, failure) ->
                        minimumVersion = latest ? null : all == null ? "" : encoded(all.resourceVersion()));
    }

    private CompletableFuture<Listed<T>> pages(String version, long startedAt, Duration timeout, Runnable written) {
        // with a limit, any version but 0 would be an exact one, which the server may no longer have
        boolean paged = version.isEmpty() || version.equals("0");
        int limit = pageSize;
        String query = (paged ? "limit=" + limit + "&" : "") + "resourceVersion=" + version;
        return page(query, left(startedAt, timeout), ApiConnections.LONGEST_LIST, written)
                .thenCompose(first -> remainingPages(first, limit, new ArrayList<>(), startedAt, timeout))
                .exceptionallyCompose(failure -> {
                    Duration left = left(startedAt, timeout);
                    if (left.isNegative()) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    if (ApiServerException.reasonOf(failure) == FailureReason.EXPIRED) {
                        // the continue token or the version has expired: list everything in one answer
                        return page("", left, ApiConnections.LONGEST_LIST, () -> {})
                                .thenApply(Fabric8ListDecoder.Page::listed);
                    }
                    boolean fewer = paged && !version.equals("0");
                    if (!isTooLong(failure) || (fewer && limit == 1)) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    // a server that answers from its watch cache may ignore a limit; the latest state comes in pages
                    if (fewer) {
                        pageSize = Math.max(1, limit / 10);
                    }
                    return pages("", startedAt, timeout, () -> {});
                });
    }

    private static boolean isTooLong(Throwable failure) {
        return ApiServerException.causeOf(failure).getCause() instanceof ApiConnections.AnswerTooLong;
    }

    private CompletableFuture<Listed<T>> remainingPages(
            Fabric8ListDecoder.Page<T> page, int limit, List<Fetched<T>> items, long startedAt, Duration timeout) {
        items.addAll(page.listed().items());
        if (page.next().isEmpty()) {
            return CompletableFuture.completedFuture(
                    new Listed<>(items, page.listed().resourceVersion()));
        }
        Duration left = left(startedAt, timeout);
        String query = "limit=" + limit + "&continue=" + encoded(page.next());
        return left.isNegative()
                ? CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                        FailureReason.TIMEOUT,
                        "LIST " + selection,
                        "not all pages came within " + Durations.text(timeout),
                        null))
                : page(query, left, ApiConnections.LONGEST_LIST, () -> {})
                        .thenCompose(next -> remainingPages(next, limit, items, startedAt, timeout));
    }

    private CompletableFuture<Fabric8ListDecoder.Page<T>> page(
            String query, Duration timeout, int longest, Runnable written) {
        return session.list(
                ServerRequest.get("LIST " + selection, selection.path() + query),
                timeout,
                longest,
                new Fabric8ListDecoder<>(selection.kind(), decoder)::decode,
                written);
    }

    private Duration left(long startedAt, Duration timeout) {
        return timeout.minusNanos(session.nanoTime() - startedAt);
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return watch(new WatchRequest(selection, resourceVersion, seconds(serverTimeout)), events, () -> {});
    }

    @Override
    public boolean streamsLists() {
        // lists of collections come in pages, which costs the server less
        return selection.isByName() && streamed.supported();
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return watch(new WatchRequest(selection, null, seconds(serverTimeout)), events, () -> {});
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events, Runnable written) {
        return watch(new WatchRequest(selection, null, seconds(serverTimeout)), events, written);
    }

    @Override
    public void streamRefused(ApiServerException failure) {
        streamed.refused(failure);
    }

    private WatchHandle watch(WatchRequest request, Consumer<WatchEvent<T>> events, Runnable written) {
        int longest = selection.isByName() ? ApiConnections.LONGEST_NAMED : ApiConnections.LONGEST_OBJECT;
        return session.watch(request, longest, decoder, events, written);
    }

    private static int seconds(Duration serverTimeout) {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, serverTimeout.toSeconds()));
    }

    @Override
    public String toString() {
        return selection.toString();
    }

    /** Encodes a value of a query. */
    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
