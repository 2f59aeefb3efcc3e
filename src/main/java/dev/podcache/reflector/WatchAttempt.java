package dev.podcache.reflector;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.WatchEvent;
import java.time.Duration;

/**
 * One watch of a {@link ReflectorLoop}, from its request to its end: what its events mean for the sink, whether it is alive,
 * and the list that confirms what is known. Touched in steps of the reflector only.
 */
final class WatchAttempt<T> {

    private static final Duration CONFIRMED_WITHIN = Duration.ofSeconds(2);

    private final ReflectorLoop<T> reflector;
    private final ReflectorSink<T> sink;
    private final int number;
    private final WatchHealth health;
    private boolean confirmed;

    /**
     * A watch that begins now.
     *
     * @param number of the attempt that it is
     * @param confirmed whether the sink is up to date once it is accepted
     */
    WatchAttempt(ReflectorLoop<T> reflector, ReflectorSink<T> sink, int number, WatchHealth health, boolean confirmed) {
        this.reflector = reflector;
        this.sink = sink;
        this.number = number;
        this.health = health;
        this.confirmed = confirmed;
    }

    void happened(WatchEvent<T> event) {
        if (!reflector.isCurrent(number)) {
            return;
        }
        if (event instanceof WatchEvent.Upserted<T> upserted) {
            changed(upserted.fetched().resourceVersion(), () -> sink.upsert(upserted.fetched()));
        } else if (event instanceof WatchEvent.Deleted<T> deleted) {
            changed(deleted.last().resourceVersion(), () -> sink.delete(deleted.last()));
        } else if (event instanceof WatchEvent.Bookmark<T> bookmark) {
            seen(bookmark.resourceVersion(), true);
            guard();
        } else if (event instanceof WatchEvent.Ended<T> ended) {
            reflector.ended(number, health, ended.failure());
        } else {
            opened();
        }
    }

    private void opened() {
        health.opened(reflector.now());
        reflector.answered();
        if (confirmed) {
            reflector.confirmed(number);
        } else if (reflector.tell(number, sink::resumed)) {
            listLater(Duration.ZERO, health.isVersionless() ? Duration.ZERO : CONFIRMED_WITHIN);
        }
    }

    /** Tells the sink first: only what it has taken counts as seen. */
    private void changed(String version, Runnable sinkMethod) {
        if (health.covers(version)) {
            seen("", false);
        } else if (reflector.tell(number, sinkMethod)) {
            seen(version, false);
        }
    }

    private void seen(String version, boolean bookmark) {
        health.heard(version, bookmark, reflector.now());
        reflector.seen(version, bookmark);
        if (!confirmed && !health.isVersionless()) {
            confirm();
        }
    }

    private void confirm() {
        confirmed = true;
        reflector.confirmed(number);
    }

    private void listLater(Duration pause, Duration within) {
        reflector.confirmLater(pause, within, this::list);
    }

    private boolean needsConfirmation() {
        return !confirmed && reflector.isCurrent(number);
    }

    /** Lists what the watch should have told by now. */
    private void list() {
        if (needsConfirmation()) {
            long events = health.events();
            reflector.list(listed -> listed(listed, events), this::failed);
        }
    }

    private void listed(Listed<T> listed, long eventsBefore) {
        if (!needsConfirmation()) {
            return;
        }
        String version = listed.resourceVersion();
        boolean overtaken = health.events() > eventsBefore;
        if (overtaken && version.isEmpty()) {
            // nobody can tell which of the two is newer
            listLater(Duration.ZERO, CONFIRMED_WITHIN);
        } else if (!health.isBeyond(version)) {
            if (reflector.tell(number, () -> sink.replace(ImmutableList.copyOf(listed.items()), version))) {
                health.listed(version);
                reflector.confirmedBy(version);
                confirm();
            }
        } else if (overtaken) {
            confirm();
        } else {
            reflector.abandon(number, health.older(version), false);
        }
    }

    private void failed(ApiServerException failure) {
        if (needsConfirmation()) {
            Duration pause = reflector.pauseAfter(failure, false);
            if (reflector.tell(number, () -> sink.disconnected(failure))) {
                listLater(pause, Duration.ZERO);
            }
        }
    }

    /** Looks whether the watch is alive when it could first be dead, and again whenever that moves. */
    void guard() {
        if (!reflector.isCurrent(number)) {
            return;
        }
        long now = reflector.now();
        Duration due = health.untilDead(now);
        if (due.compareTo(Duration.ZERO) > 0) {
            reflector.watchdog(number, due, this::guard);
        } else {
            reflector.abandon(number, health.dead(now), true);
        }
    }
}
