package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ResourceVersions;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One watch of a {@link Reflector}, from its request to its end: passes events to the sink, knows whether the watch is
 * dead, and lists to confirm the sink's state. It may begin with a list, as a streamed list does. Used in steps of the
 * reflector only.
 */
final class WatchAttempt<T> implements Consumer<WatchEvent<T>> {

    /*
     * State         since                            events                     ends when
     * -------------------------------------------------------------------------------------------------------------
     * gathering     the request of a streamed list   are gathered, and go to    a bookmark ends the list; not within 30
     *                                                the sink as one list       s, or 3 s after the watch was accepted:
     *                                                                           a plain list
     * requested     the request of a watch           none yet                   the watch is accepted
     * unconfirmed   it was accepted after a failure  go to the sink             a bookmark or a list is newer than the
     *                                                                           failure
     * confirmed     it was accepted, or the above    go to the sink             the watch ends, or is dead
     *
     * All times are nanoseconds of one clock.
     */

    private static final Duration SHORTEST = Duration.ofMinutes(30);
    private static final Duration CONFIRMATION_SPREAD = Duration.ofSeconds(2);
    private static final Duration OPENING_TIMEOUT = Duration.ofSeconds(30);

    /** How long the list's end may take after the watch was accepted; the end follows the objects at once. */
    private static final Duration LIST_END_TIMEOUT = Duration.ofSeconds(3);

    private static final long EARLY_END = Duration.ofSeconds(1).toNanos();
    private static final long HEALTHY_AFTER = Duration.ofSeconds(5).toNanos();
    private static final long MAX_SILENCE = Duration.ofSeconds(90).toNanos();
    private static final long GRACE = Duration.ofSeconds(30).toNanos();

    private final Reflector<T> reflector;
    private final int number;
    private final boolean versionless; // it begins with the existing objects, and no end of them is marked
    private @Nullable Map<Object, Fetched<T>> gathered; // not null while a streamed list is gathered
    private boolean opened;
    private boolean bookmarked;
    private boolean confirmed; // the watch is accepted, and the sink needs no list to be up to date
    private int events;
    private long overdue; // when the server should long have ended it
    private long openedAt; // until it is open, when it was requested
    private long lastReceived;
    private String appliedUpTo;
    private String coveredUpTo = "";

    private WatchAttempt(Reflector<T> reflector, int number, Duration length, String from, boolean gathers) {
        long now = reflector.recovery.timekeeper.nanoTime();
        this.reflector = reflector;
        this.number = number;
        this.versionless = from.isEmpty() && !gathers;
        this.gathered = gathers ? new LinkedHashMap<>() : null;
        this.overdue = now + length.toNanos() + GRACE;
        this.openedAt = now;
        this.lastReceived = now;
        this.appliedUpTo = from;
    }

    /**
     * Returns a watch of the changes after a version.
     *
     * @param from the version; empty for a watch without one
     * @param number the number of the attempt
     * @param length how long the server is asked to keep it open; it counts as dead some time after that
     */
    static <T> WatchAttempt<T> from(String from, Reflector<T> reflector, int number, Duration length) {
        return new WatchAttempt<>(reflector, number, length, from, false);
    }

    /** Returns a watch that begins with a list. Call {@link #awaitOpening} once the request is sent. */
    static <T> WatchAttempt<T> streamingList(Reflector<T> reflector, int number, Duration length) {
        return new WatchAttempt<>(reflector, number, length, "", true);
    }

    /**
     * Returns how long the server is asked to keep a watch open: 30 to 60 minutes.
     *
     * @param random uniform in [0, 1)
     */
    static Duration length(double random) {
        return SHORTEST.plusNanos((long) (SHORTEST.toNanos() * random));
    }

    /** Receives an event, on any thread. */
    @Override
    public void accept(WatchEvent<T> event) {
        reflector.step(() -> received(event));
    }

    private void received(WatchEvent<T> event) {
        if (!reflector.isCurrent(number)) {
            return;
        }
        if (gathered != null) {
            gather(gathered, event);
        } else if (event instanceof WatchEvent.Upserted<T> upserted) {
            changed(upserted.fetched().resourceVersion(), () -> reflector.sink.upsert(upserted.fetched()));
        } else if (event instanceof WatchEvent.Deleted<T> deleted) {
            changed(deleted.last().resourceVersion(), () -> reflector.sink.delete(deleted.last()));
        } else if (event instanceof WatchEvent.Undecoded<T> undecoded) {
            changed(undecoded.resourceVersion(), () -> {});
        } else if (event instanceof WatchEvent.Bookmark<T> bookmark) {
            applied(reflector.recovery.share(bookmark.resourceVersion()), true);
        } else if (event instanceof WatchEvent.Ended<T> ended) {
            ended(ended.failure());
        } else {
            opened();
        }
    }

    private void opened() {
        long now = now();
        // the server counts from when it accepts the watch
        overdue += now - openedAt;
        opened = true;
        openedAt = now;
        lastReceived = now;
        confirmed = reflector.accepted();
        if (confirmed) {
            reflector.confirmed(number);
        } else if (reflector.tellSink(number, reflector.sink::resumed)) {
            listLater(Duration.ZERO, versionless ? Duration.ZERO : CONFIRMATION_SPREAD);
        }
    }

    /** Passes a change to the sink, and only then records its version as applied. */
    private void changed(String version, Runnable sinkMethod) {
        boolean covered = !coveredUpTo.isEmpty()
                && (coveredUpTo.equals(version) || ResourceVersions.isOlder(version, coveredUpTo));
        if (covered) {
            applied("", false);
        } else if (reflector.tellSink(number, sinkMethod)) {
            applied(version, false);
        }
    }

    private void applied(String version, boolean bookmark) {
        events++;
        // after the first one, bookmarks come about every minute, so silence becomes meaningful
        bookmarked |= bookmark;
        lastReceived = now();
        appliedUpTo = version.isEmpty() ? appliedUpTo : version;
        reflector.applied(version, bookmark);
        if (bookmark && !confirmed && !versionless) {
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

    /** Lists, to find changes that the watch may have missed. */
    private void list() {
        if (needsConfirmation()) {
            int before = events;
            reflector.list(number, listed -> listed(listed, before), this::notListed);
        }
    }

    private void listed(Listed<T> listed, int eventsBefore) {
        if (!needsConfirmation()) {
            return;
        }
        String version = listed.resourceVersion();
        boolean overtaken = events > eventsBefore;
        if (overtaken && version.isEmpty()) {
            // the list and the event cannot be ordered
            listLater(Duration.ZERO, CONFIRMATION_SPREAD);
        } else if (!ResourceVersions.isOlder(version, appliedUpTo)) {
            if (reflector.tellSink(number, () -> reflector.sink.replace(listed.items(), version))) {
                coveredUpTo = version;
                appliedUpTo = version.isEmpty() ? appliedUpTo : version;
                reflector.listApplied(version);
                confirm();
            }
        } else if (overtaken) {
            confirm();
        } else {
            String why = "a list has version " + version + ", older than " + appliedUpTo
                    + ": the API server's storage was restored; listing again";
            reflector.abandon(number, failure(FailureReason.EXPIRED, why), false);
        }
    }

    private void notListed(ApiServerException failure) {
        if (!needsConfirmation()) {
            return;
        }
        if (failure.reason() == FailureReason.FORBIDDEN && reflector.server.streamsLists()) {
            // whoever may only watch may stream a list, with which the next attempt begins
            reflector.abandon(number, failure, false);
        } else {
            Duration pause = reflector.pauseAfter(failure, false);
            if (reflector.tellSink(number, () -> reflector.sink.disconnected(failure))) {
                listLater(pause, Duration.ZERO);
            }
        }
    }

    /** Gives up the watch if it is dead. */
    void check() {
        long now = now();
        boolean silent = bookmarked && lastReceived + MAX_SILENCE - now <= 0;
        if (reflector.isCurrent(number) && (silent || overdue - now <= 0)) {
            long seconds = Duration.ofNanos(now - lastReceived).toSeconds();
            String why = "no event or bookmark for " + seconds + " s";
            reflector.abandon(number, failure(FailureReason.TIMEOUT, why), true);
        }
    }

    private void ended(@Nullable ApiServerException why) {
        long now = now();
        boolean early = now - openedAt < EARLY_END;
        boolean earlyAgain = why == null && reflector.pauses.endedEarlyAgain(early);
        ApiServerException failure = why;
        if (why == null && early && events == 0) {
            failure = failure(
                    FailureReason.UNAVAILABLE, "the server ended the watch at once, without an event or an error");
        } else if (earlyAgain) {
            failure = failure(FailureReason.UNAVAILABLE, "the server repeatedly ended the watch within a second");
        }
        if (events > 0 || (opened && now - openedAt >= HEALTHY_AFTER)) {
            // the server works again, so the next failure is a first one
            reflector.pauses.reset();
        }
        reflector.ended(number, failure, failure == null || isResumable(failure), opened);
    }

    /** Returns whether a watch can resume from the last version. */
    private boolean isResumable(ApiServerException failure) {
        // The HTTP code of an open watch comes from an ERROR event. The version may be its cause, but not of a 429.
        boolean reported = opened && failure.httpCode() > 0 && failure.reason() != FailureReason.THROTTLED;
        return !reported
                && switch (failure.reason()) {
                    // an unreadable event would come again from the same version
                    case EXPIRED, UNREADABLE, REJECTED -> false;
                    case NOT_FOUND,
                            FORBIDDEN,
                            UNAUTHORIZED,
                            THROTTLED,
                            UNAVAILABLE,
                            TIMEOUT,
                            CONFLICT,
                            ALREADY_EXISTS,
                            INTERRUPTED -> true;
                };
    }

    /** Gives up a streamed list that is not accepted in time. */
    void awaitOpening() {
        reflector.setTimer(number, OPENING_TIMEOUT, () -> late(false));
    }

    private void gather(Map<Object, Fetched<T>> objects, WatchEvent<T> event) {
        if (event instanceof WatchEvent.Upserted<T> upserted) {
            objects.put(identityOf(upserted.fetched().object()), upserted.fetched());
        } else if (event instanceof WatchEvent.Deleted<T> deleted) {
            objects.remove(identityOf(deleted.last().object()));
        } else if (event instanceof WatchEvent.Bookmark<T> bookmark) {
            if (bookmark.endsList()) {
                gathered = null;
                String version = reflector.recovery.share(bookmark.resourceVersion());
                streamed(new Listed<>(List.copyOf(objects.values()), version));
            }
        } else if (event instanceof WatchEvent.Ended<T> ended) {
            streamEnded(ended.failure());
        } else if (event instanceof WatchEvent.Opened<T>) {
            opened = true;
            reflector.answered();
            reflector.setTimer(number, LIST_END_TIMEOUT, () -> late(true));
        }
    }

    /** Applies a streamed list. From then on, this is a watch like one that follows a plain list. */
    private void streamed(Listed<T> listed) {
        if (reflector.replaced(number, listed)) {
            reflector.cancelTimer(number);
            appliedUpTo = listed.resourceVersion();
            // the list is over, and as a watch it opens now
            opened();
        }
    }

    private void streamEnded(@Nullable ApiServerException failure) {
        if (failure == null) {
            giveUpStream(failure(FailureReason.TIMEOUT, "the server ended the watch before the end of the list"), true);
            return;
        }
        // a 504 says that the server's watch cache lags, which a plain list does not need
        boolean refused = failure.httpCode() > 0
                && (failure.reason() == FailureReason.REJECTED || failure.reason() == FailureReason.TIMEOUT);
        giveUpStream(failure, refused);
    }

    /**
     * Gives up, unless the list is complete: a server that does not know the parameter never sends its end.
     *
     * @param afterOpening whether the list's end was awaited; otherwise the watch was, which may have opened just now
     */
    private void late(boolean afterOpening) {
        if (gathered != null && opened == afterOpening && reflector.isCurrent(number)) {
            giveUpStream(failure(FailureReason.TIMEOUT, "the end of the list did not come in time"), opened);
        }
    }

    /** @param refused whether the server does not know streamed lists, or cannot serve them now */
    private void giveUpStream(ApiServerException failure, boolean refused) {
        gathered = null;
        if (refused) {
            reflector.server.streamRefused(failure);
        }
        // a Node authorizer that lags may allow the next request; if that list is forbidden too, a GET follows
        reflector.notStreamed(number, failure, refused || failure.reason() == FailureReason.FORBIDDEN, opened);
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, "WATCH " + reflector.server, why, null);
    }

    private long now() {
        return reflector.recovery.timekeeper.nanoTime();
    }

    /**
     * Returns a key that identifies an object: a proxy may ignore the field selector, so there may be several objects.
     */
    private static Object identityOf(Object object) {
        return object instanceof HasMetadata resource
                ? List.of(
                        Objects.requireNonNullElse(resource.getMetadata().getNamespace(), ""),
                        Objects.requireNonNullElse(resource.getMetadata().getName(), ""))
                : object;
    }
}
