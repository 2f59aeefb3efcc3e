package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.http.ServerRequest;
import org.jspecify.annotations.Nullable;

/**
 * The request of a watch. Keeps its parts, not its texts, because it lasts as long as the watch.
 *
 * @param version the version after which the watch begins, or empty; null for a watch that begins with a list
 * @param seconds how long the server is asked to keep the watch open
 */
record WatchRequest(ObjectSelection selection, @Nullable String version, int seconds) implements ServerRequest {

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
                : "resourceVersion=" + Fabric8ListerWatcher.encoded(version);
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
