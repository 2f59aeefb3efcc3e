package dev.podcache.embedded;

import com.google.common.collect.ImmutableList;
import dev.podcache.time.Timekeeper;
import java.time.Duration;

/** Opens, counts and ends the watches of a cluster, with their bookmarks and timeouts. */
final class Watches {

    // Which watches are open is the watch caches' knowledge and guarded by the cluster's lock, as they are. Under it
    // a watch is only given signals; it tells them after it.

    /** How long before its timeout a watch is told how far it has come, as servers do. */
    private static final Duration BOOKMARK_BEFORE_TIMEOUT = Duration.ofSeconds(2);

    private final Object lock;
    private final Storage storage; // guarded by lock
    private final Timekeeper timekeeper;
    private final Duration bookmarkPeriod;
    private boolean closed; // guarded by lock

    /**
     * No watches yet.
     *
     * @param lock the cluster's
     */
    Watches(Object lock, Storage storage, Timekeeper timekeeper, Duration bookmarkPeriod) {
        this.lock = lock;
        this.storage = storage;
        this.timekeeper = timekeeper;
        this.bookmarkPeriod = bookmarkPeriod;
    }

    ClusterWatch open(Resource resource, Selection selection, WatchOptions options, WatchListener listener) {
        long after = ObjectNames.version(options.resourceVersion());
        Watcher watcher = new Watcher(selection, after, listener, new WatchTimers(timekeeper));
        OpenWatch watch = new OpenWatch(resource, watcher);
        boolean open;
        synchronized (lock) {
            open = !closed && storage.cache(resource).open(watcher);
        }
        if (open) {
            watch.startTimers(options);
        } else {
            watcher.queueEnd();
        }
        watcher.tell();
        return watch;
    }

    int count(Resource resource) {
        synchronized (lock) {
            return storage.cache(resource).watchers().size();
        }
    }

    /** Ends all; those that are opened later end at once. */
    void close() {
        ImmutableList.Builder<Watcher> ending = ImmutableList.builder();
        synchronized (lock) {
            closed = true;
            for (Resource resource : Resource.values()) {
                WatchCache cache = storage.cache(resource);
                ending.addAll(cache.watchers());
                cache.watchers().forEach(cache::close);
            }
        }
        for (Watcher watcher : ending.build()) {
            watcher.timers().stop();
            watcher.queueEnd();
            watcher.tell();
        }
    }

    /** A watch and the way it ends. */
    private final class OpenWatch implements ClusterWatch {

        private final Resource resource;
        private final Watcher watcher;
        private final long opened = timekeeper.nanoTime();
        private long lastBookmark; // after opened; written before the first timer

        OpenWatch(Resource resource, Watcher watcher) {
            this.resource = resource;
            this.watcher = watcher;
        }

        void startTimers(WatchOptions options) {
            if (!options.timeout().isZero()) {
                watcher.timers().startTimeout(options.timeout(), this::timeOut);
            }
            if (options.bookmarks()) {
                long timeout = options.timeout().isZero()
                        ? Long.MAX_VALUE
                        : options.timeout().toNanos();
                lastBookmark = timeout - BOOKMARK_BEFORE_TIMEOUT.toNanos();
                startBookmark();
            }
        }

        private void startBookmark() {
            long gone = timekeeper.nanoTime() - opened;
            long period = bookmarkPeriod.toNanos();
            long next = lastBookmark > gone ? Math.min(period, lastBookmark - gone) : period;
            watcher.timers().startBookmark(Duration.ofNanos(next), this::bookmark);
        }

        private void bookmark() {
            synchronized (lock) {
                if (storage.cache(resource).isOpen(watcher)) {
                    watcher.queue(Bookmarks.at(resource, storage.cachedRevision()));
                }
            }
            watcher.tell();
            startBookmark();
        }

        private void timeOut() {
            if (leave()) {
                watcher.queueEnd();
                watcher.tell();
            }
        }

        @Override
        public void close() {
            watcher.silence();
            leave();
        }

        private boolean leave() {
            watcher.timers().stop();
            synchronized (lock) {
                return storage.cache(resource).close(watcher);
            }
        }
    }
}
