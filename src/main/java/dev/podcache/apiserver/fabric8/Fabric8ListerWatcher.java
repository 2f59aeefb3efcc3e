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
import dev.podcache.apiserver.http.ListWatchSession;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
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
    private final ListWatchSession session;
    private final ObjectDecoder<T> decoder;
    private final StreamedLists streamed;

    /** The minimum resourceVersion of the next list of a collection: "0" for any, "" for the latest; null if always. */
    private volatile @Nullable String minimumVersion;

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
        this.minimumVersion = latest ? null : "0";
        this.session = session;
        this.decoder = decoder;
        this.streamed = streamed;
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
        boolean latest = minimumVersion == null;
        String version = Strings.nullToEmpty(minimumVersion);
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
                .whenComplete((all, failure) ->
                        minimumVersion = latest ? null : all == null ? "" : encoded(all.resourceVersion()));
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
                        FailureReason.TIMEOUT,
                        "LIST " + selection,
                        "not all pages came within " + Durations.text(timeout),
                        null))
                : page(query, left, ApiConnections.LONGEST_LIST)
                        .thenCompose(next -> remainingPages(next, items, startedAt, timeout));
    }

    private CompletableFuture<Fabric8ListDecoder.Page<T>> page(String query, Duration timeout, int longest) {
        return session.list(
                ServerRequest.get("LIST " + selection, selection.path() + query),
                timeout,
                longest,
                new Fabric8ListDecoder<>(selection.kind(), decoder)::decode);
    }

    private Duration left(long startedAt, Duration timeout) {
        return timeout.minusNanos(session.nanoTime() - startedAt);
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return watch(new WatchRequest(selection, resourceVersion, seconds(serverTimeout)), events);
    }

    @Override
    public boolean streamsLists() {
        // lists of collections come in pages, which costs the server less
        return selection.isByName() && streamed.supported();
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        return watch(new WatchRequest(selection, null, seconds(serverTimeout)), events);
    }

    @Override
    public void streamRefused(ApiServerException failure) {
        streamed.refused(failure);
    }

    private WatchHandle watch(WatchRequest request, Consumer<WatchEvent<T>> events) {
        int longest = selection.isByName() ? ApiConnections.LONGEST_NAMED : ApiConnections.LONGEST_OBJECT;
        return session.watch(request, longest, decoder, events);
    }

    private static int seconds(Duration serverTimeout) {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, serverTimeout.toSeconds()));
    }

    @Override
    public String toString() {
        return selection.toString();
    }

    /** Encodes a value of a query. */
    static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
