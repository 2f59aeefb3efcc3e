package dev.podcache.kubelet.events;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Writes events in the order in which they come, each until it is written or given up. Thread-safe. */
final class EventSink {

    /*
     * One event is under way at a time, and so is at most one request. Who finds nobody at it writes on, on a
     * worker: first the one who adds an event, later whoever brings the answer or the end of a pause. The
     * correlator is touched by that one only.
     */

    private static final Logger log = LoggerFactory.getLogger(EventSink.class);
    private static final int MOST_WAITING = 1000;
    private static final int MOST_TRIES = 12;
    private static final Retries RETRIES = Retries.every(Duration.ofSeconds(10));
    private static final Retries NEXT_EVENT = Retries.atOnce();

    private final ObjectApi<Event> events;
    private final EventCorrelator correlator;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final Queue<Event> waiting = new ArrayDeque<>(); // guarded by this
    private boolean writing; // guarded by this
    private boolean overflowing; // guarded by this
    private boolean closed; // guarded by this
    private volatile boolean refusing; // written by who writes
    private Timekeeper.@Nullable Scheduled pause; // guarded by this

    EventSink(ObjectApi<Event> events, EventCorrelator correlator, Timekeeper timekeeper, DoubleSupplier random) {
        this.events = events;
        this.correlator = correlator;
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /** Takes {@code event}, or loses it if too many are waiting. Returns at once. */
    void add(Event event) {
        boolean begin;
        boolean lost;
        synchronized (this) {
            if (closed) {
                return;
            }
            boolean full = waiting.size() >= MOST_WAITING;
            lost = full && !overflowing;
            overflowing = full;
            if (!full) {
                waiting.add(event);
            }
            begin = !full && !writing;
            writing |= begin;
        }
        if (lost) {
            log.warn("{} events wait for the API server; those that come now are lost", MOST_WAITING);
        }
        if (begin) {
            timekeeper.workers().execute(this::next);
        }
    }

    synchronized void close() {
        closed = true;
        waiting.clear();
        if (pause != null) {
            pause.cancel();
            pause = null;
        }
    }

    private synchronized @Nullable Event take() {
        Event event = waiting.poll();
        writing = event != null;
        return event;
    }

    private void next() {
        for (Event event = take(); event != null; event = take()) {
            Optional<EventCorrelator.Correlated> correlated = correlate(event);
            if (correlated.isPresent()) {
                CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
                write(correlated.get(), 1, over);
                if (!over.isDone()) {
                    over.thenRunAsync(this::next, timekeeper.workers());
                    return;
                }
            }
        }
    }

    private Optional<EventCorrelator.Correlated> correlate(Event event) {
        try {
            return correlator.correlate(event);
        } catch (RuntimeException e) {
            log.error("an event was lost; this is a bug in Podcache", e);
            return Optional.empty();
        }
    }

    private void write(EventCorrelator.Correlated correlated, int tries, CompletableFuture<@Nullable Void> over) {
        if (isClosed()) {
            return;
        }
        send(correlated).whenComplete((written, thrown) -> {
            if (written != null) {
                refusing = false;
                correlator.written(correlated.key(), written);
                over.complete(null);
            } else if (!isClosed()) {
                // else it may be the closing that it fails of
                failed(correlated, tries, thrown, over);
            }
        });
    }

    private void failed(
            EventCorrelator.Correlated correlated,
            int tries,
            @Nullable Throwable thrown,
            CompletableFuture<@Nullable Void> over) {
        if (mayPass(thrown) && tries < MOST_TRIES) {
            pauseFor(RETRIES.pause(tries, random.getAsDouble(), thrown), () -> write(correlated, tries + 1, over));
        } else {
            giveUp(correlated.event(), thrown);
            endAfter(NEXT_EVENT.pause(tries, 0, thrown), over);
        }
    }

    private CompletableFuture<Event> send(EventCorrelator.Correlated correlated) {
        Event event = correlated.event();
        String patch = correlated.patch();
        if (patch == null) {
            return create(event);
        }
        ObjectKey key = ObjectKey.of(
                event.getMetadata().getNamespace(), event.getMetadata().getName());
        return CompletableFuture.<@Nullable Void>completedFuture(null)
                .thenCompose(begun -> events.patch(key, patch))
                .exceptionallyCompose(thrown -> reasonOf(thrown) == FailureReason.NOT_FOUND
                        ? create(event)
                        : CompletableFuture.failedFuture(thrown));
    }

    private CompletableFuture<Event> create(Event event) {
        return CompletableFuture.<@Nullable Void>completedFuture(null).thenCompose(begun -> events.create(event));
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized void pauseFor(Duration wait, Runnable then) {
        if (!closed) {
            pause = timekeeper.schedule(wait, then);
        }
    }

    private void endAfter(Duration wait, CompletableFuture<@Nullable Void> over) {
        if (wait.isZero()) {
            over.complete(null);
        } else {
            pauseFor(wait, () -> over.complete(null));
        }
    }

    private void giveUp(Event event, @Nullable Throwable thrown) {
        String about = event.getInvolvedObject().getKind() + " "
                + event.getInvolvedObject().getName();
        if (reasonOf(thrown) == FailureReason.ALREADY_EXISTS) {
            // an attempt before this one came through, though its answer did not
            log.debug("the event {} about {} was not written", event.getReason(), about, thrown);
            return;
        }
        // who may not write events is told so once, and not at each
        log.atLevel(refusing ? Level.DEBUG : Level.WARN)
                .log("the event {} about {} was not written: {}", event.getReason(), about, why(thrown));
        refusing = true;
    }

    private static String why(@Nullable Throwable thrown) {
        Throwable cause = ApiServerException.causeOf(thrown);
        return String.valueOf(cause instanceof ApiServerException ? cause.getMessage() : cause);
    }

    /** Whether it may be written another time. Any other answer is about the event. */
    private static boolean mayPass(@Nullable Throwable thrown) {
        FailureReason reason = reasonOf(thrown);
        return reason != null && Retries.mayPass(reason);
    }

    private static @Nullable FailureReason reasonOf(@Nullable Throwable thrown) {
        return ApiServerException.causeOf(thrown) instanceof ApiServerException failure ? failure.reason() : null;
    }
}
