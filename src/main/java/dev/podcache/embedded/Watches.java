package dev.podcache.embedded;

import com.google.common.collect.ImmutableList;
import dev.podcache.time.Timekeeper;
import java.time.Duration;

/** Opens, counts and ends the watches of a cluster, and runs their bookmarks and timeouts. */
final class Watches {

    // The watch caches hold the open watches; the lock of the cluster guards both. Events are queued under the lock and
    // delivered after it is released.

    /** The last bookmark of a watch is sent this long before its timeout, as a kube-apiserver does. */
    private static final Duration BOOKMARK_BEFORE_TIMEOUT = Duration.ofSeconds(2);

    private final Object lock;
    private final Storage storage; // guarded by lock
    private final Timekeeper timekeeper;
    private final Duration bookmarkPeriod;
    private boolean closed; // guarded by lock

    /**
     * Creates watches without any open.
     *
     * @param lock the lock of the cluster
     */
    Watches(Object lock, Storage storage, Timekeeper timekeeper, Duration bookmarkPeriod) {
        this.lock = lock;
        this.storage = storage;
        this.timekeeper = timekeeper;
        this.bookmarkPeriod = bookmarkPeriod;
    }

    ClusterWatch open(Resource resource, Selection selection, WatchOptions options, WatchListener listener) {
        long version = ObjectNames.version(options.resourceVersion());
        long after = options.initialEvents() ? 0 : version;
        Watcher watcher = new Watcher(selection, after, listener, new WatchTimers(timekeeper));
        OpenWatch watch = new OpenWatch(resource, watcher);
        boolean open;
        synchronized (lock) {
            open = !closed
                    && isFreshLocked(options, version, watcher)
                    && storage.cache(resource).open(watcher);
            if (open && options.initialEvents() && options.bookmarks()) {
                watcher.queue(Bookmarks.endOfInitialEvents(resource, storage.cachedRevision()));
            }
        }
        if (open) {
            watch.startTimers(options);
        } else {
            watcher.queueEnd();
        }
        watcher.deliver();
        return watch;
    }

    /** Returns whether the watch cache is recent enough for the initial events; queues an ERROR event if not. */
    private boolean isFreshLocked(WatchOptions options, long version, Watcher watcher) {
        long atLeast = options.resourceVersion().isEmpty() ? storage.revision() : version;
        if (!options.initialEvents() || Long.compareUnsigned(atLeast, storage.cachedRevision()) <= 0) {
            return true;
        }
        watcher.queue(ClusterEvent.error(StatusException.tooLargeVersion(atLeast, storage.cachedRevision())));
        return false;
    }

    int count(Resource resource) {
        synchronized (lock) {
            return storage.has(resource) ? storage.cache(resource).watchers().size() : 0;
        }
    }

    /** Ends all open watches. Watches opened later end at once. */
    void close() {
        ImmutableList.Builder<Watcher> ending = ImmutableList.builder();
        synchronized (lock) {
            closed = true;
            storage.resources().forEach(resource -> ending.addAll(closeAllLocked(resource)));
        }
        tellEnded(ending.build());
    }

    /** Removes the open watches of a resource and returns them; they must then be {@linkplain #tellEnded told}. */
    ImmutableList<Watcher> closeAllLocked(Resource resource) {
        WatchCache cache = storage.cache(resource);
        ImmutableList<Watcher> open = cache.watchers();
        open.forEach(cache::close);
        return open;
    }

    static void tellEnded(ImmutableList<Watcher> ended) {
        for (Watcher watcher : ended) {
            watcher.timers().stop();
            watcher.queueEnd();
            watcher.deliver();
        }
    }

    /** An open watch with its timers. */
    private final class OpenWatch implements ClusterWatch {

        private final Resource resource;
        private final Watcher watcher;
        private final long opened = timekeeper.nanoTime();
        private long lastBookmark; // nanoseconds after opened; written before the first timer starts

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
            long elapsed = timekeeper.nanoTime() - opened;
            long period = bookmarkPeriod.toNanos();
            long next = lastBookmark > elapsed ? Math.min(period, lastBookmark - elapsed) : period;
            watcher.timers().startBookmark(Duration.ofNanos(next), this::bookmark);
        }

        private void bookmark() {
            synchronized (lock) {
                if (isOpenLocked()) {
                    watcher.queue(Bookmarks.at(resource, storage.cachedRevision()));
                }
            }
            watcher.deliver();
            startBookmark();
        }

        private boolean isOpenLocked() {
            return storage.has(resource) && storage.cache(resource).isOpen(watcher);
        }

        private void timeOut() {
            if (end()) {
                watcher.queueEnd();
                watcher.deliver();
            }
        }

        @Override
        public void close() {
            watcher.cancel();
            end();
        }

        private boolean end() {
            watcher.timers().stop();
            synchronized (lock) {
                return storage.has(resource) && storage.cache(resource).close(watcher);
            }
        }
    }
}
