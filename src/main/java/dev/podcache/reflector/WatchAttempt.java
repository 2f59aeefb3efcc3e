package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.WatchEvent;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * One watch of a {@link ReflectorLoop}, from its request to its end: passes events to the sink, checks whether the
 * watch is alive, and lists to confirm the sink's state. Used in steps of the reflector only.
 */
final class WatchAttempt<T> implements Consumer<WatchEvent<T>>, Runnable {

    private static final Duration CONFIRMATION_SPREAD = Duration.ofSeconds(2);

    private final ReflectorLoop<T> reflector;
    private final int number;
    private final WatchHealth health;

    /**
     * Begins a watch.
     *
     * @param number the number of the attempt
     */
    WatchAttempt(ReflectorLoop<T> reflector, int number, WatchHealth health) {
        this.reflector = reflector;
        this.number = number;
        this.health = health;
    }

    /** Receives an event, on any thread. */
    @Override
    public void accept(WatchEvent<T> event) {
        reflector.steps.run(() -> onEvent(event));
    }

    void onEvent(WatchEvent<T> event) {
        if (!reflector.isCurrent(number)) {
            return;
        }
        if (event instanceof WatchEvent.Upserted<T> upserted) {
            changed(upserted.fetched().resourceVersion(), () -> reflector.sink.upsert(upserted.fetched()));
        } else if (event instanceof WatchEvent.Deleted<T> deleted) {
            changed(deleted.last().resourceVersion(), () -> reflector.sink.delete(deleted.last()));
        } else if (event instanceof WatchEvent.Undecoded<T> undecoded) {
            changed(undecoded.resourceVersion(), () -> {});
        } else if (event instanceof WatchEvent.Bookmark<T> bookmark) {
            applied(reflector.recovery.latestVersion.share(bookmark.resourceVersion()), true);
            run();
        } else if (event instanceof WatchEvent.Ended<T> ended) {
            reflector.ended(number, health, ended.failure());
        } else {
            opened();
        }
    }

    private void opened() {
        health.opened(reflector.timekeeper.nanoTime());
        reflector.answered();
        if (health.isConfirmed()) {
            reflector.confirmed(number);
        } else if (reflector.notifySink(number, reflector.sink::resumed)) {
            listLater(Duration.ZERO, health.isVersionless() ? Duration.ZERO : CONFIRMATION_SPREAD);
        }
    }

    /** Passes a change to the sink, and only then records its version as applied. */
    private void changed(String version, Runnable sinkMethod) {
        if (health.covers(version)) {
            applied("", false);
        } else if (reflector.notifySink(number, sinkMethod)) {
            applied(version, false);
        }
    }

    private void applied(String version, boolean bookmark) {
        health.received(version, bookmark, reflector.timekeeper.nanoTime());
        reflector.applied(version, bookmark);
        if (!health.isConfirmed() && !health.isVersionless()) {
            confirm();
        }
    }

    private void confirm() {
        health.confirm();
        reflector.confirmed(number);
    }

    private void listLater(Duration pause, Duration within) {
        reflector.confirmLater(pause, within, this::list);
    }

    private boolean needsConfirmation() {
        return !health.isConfirmed() && reflector.isCurrent(number);
    }

    /** Lists, to find changes that the watch may have missed. */
    private void list() {
        if (needsConfirmation()) {
            int events = health.events();
            reflector.list(listed -> listed(listed, events), this::failed);
        }
    }

    private void listed(Listed<T> listed, int eventsBefore) {
        if (!needsConfirmation()) {
            return;
        }
        String version = listed.resourceVersion();
        boolean overtaken = health.events() > eventsBefore;
        if (overtaken && version.isEmpty()) {
            // the list and the event cannot be ordered
            listLater(Duration.ZERO, CONFIRMATION_SPREAD);
        } else if (!health.isBeyond(version)) {
            if (reflector.notifySink(number, () -> reflector.sink.replace(listed.items(), version))) {
                health.listed(version);
                reflector.listApplied(version);
                confirm();
            }
        } else if (overtaken) {
            confirm();
        } else {
            reflector.abandon(number, health.storageRestored(version), false);
        }
    }

    private void failed(ApiServerException failure) {
        if (needsConfirmation()) {
            Duration pause = reflector.pauseAfter(failure, false);
            if (reflector.notifySink(number, () -> reflector.sink.disconnected(failure))) {
                listLater(pause, Duration.ZERO);
            }
        }
    }

    /** Checks whether the watch is alive, and schedules the next check for when it could first be dead. */
    @Override
    public void run() {
        if (!reflector.isCurrent(number)) {
            return;
        }
        long now = reflector.timekeeper.nanoTime();
        Duration due = health.untilDead(now);
        if (due.compareTo(Duration.ZERO) > 0) {
            reflector.watchdog(number, due, this);
        } else {
            reflector.abandon(number, health.dead(now), true);
        }
    }
}
