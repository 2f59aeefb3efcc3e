package dev.podcache.kubelet.events;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Pause;
import dev.podcache.time.SerialRun;
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

/**
 * Writes events in the order in which they were added. Begins with an event when the one before it is written or given
 * up. Thread-safe.
 */
final class EventSink {

    /*
     * One event is written at a time, so there is at most one request. `writing` is the event that is being written. Whoever
     * adds an event, or ends one, requests a turn; a turn takes the next event unless one is being written. Turns run one at
     * a time, and only they and the end of the event that they began use the correlator.
     */

    private static final Logger log = LoggerFactory.getLogger(EventSink.class);
    private static final int MAX_WAITING = 1000;
    private static final int MAX_TRIES = 12;
    private static final Retries RETRIES = Retries.every(Duration.ofSeconds(10));
    private static final Retries NEXT_EVENT = Retries.atOnce();

    private final ObjectApi<Event> events;
    private final EventCorrelator correlator;
    private final DoubleSupplier random;
    private final Pause pause;
    private final SerialRun turns;
    private final Queue<Event> waiting = new ArrayDeque<>(); // guarded by this
    private @Nullable Event writing; // guarded by this; as it was added
    private boolean overflowing; // guarded by this
    private boolean closed; // guarded by this
    private volatile boolean givingUp; // whether the last event was given up; set by the chain of calls that writes

    EventSink(ObjectApi<Event> events, EventCorrelator correlator, Timekeeper timekeeper, DoubleSupplier random) {
        this.events = events;
        this.correlator = correlator;
        this.random = random;
        this.pause = new Pause(timekeeper);
        this.turns = SerialRun.on(timekeeper.workers(), this::writeNext);
    }

    /** Adds {@code event}, or drops it if too many events wait. Returns at once. */
    void add(Event event) {
        boolean full;
        boolean lost;
        synchronized (this) {
            if (closed) {
                return;
            }
            full = waiting.size() >= MAX_WAITING;
            lost = full && !overflowing;
            overflowing = full;
            if (!full) {
                waiting.add(event);
            }
        }
        if (lost) {
            log.warn("{} events wait for the API server; further events are lost until one is written", MAX_WAITING);
        }
        if (!full) {
            turns.request();
        }
    }

    /** Drops the events that wait, and writes no others. Idempotent. */
    void close() {
        synchronized (this) {
            closed = true;
            waiting.clear();
        }
        pause.close();
    }

    /** Returns the event to write; null if there is none, or one is being written. */
    private synchronized @Nullable Event poll() {
        if (writing != null) {
            return null;
        }
        writing = waiting.poll();
        return writing;
    }

    /** An event was written or given up. Idempotent. */
    @SuppressWarnings("ReferenceEquality") // an equal event may be added again
    private void ended(Event added) {
        synchronized (this) {
            if (writing != added) {
                return;
            }
            writing = null;
        }
        turns.request();
    }

    private void writeNext() {
        Event event = poll();
        if (event == null) {
            return;
        }
        boolean begun = false;
        try {
            Optional<EventCorrelator.Correlated> correlated = correlate(event);
            if (correlated.isPresent()) {
                write(correlated.get(), 1, event);
                begun = true;
            }
        } finally {
            if (!begun) {
                ended(event);
            }
        }
    }

    private Optional<EventCorrelator.Correlated> correlate(Event event) {
        try {
            return correlator.correlate(event);
        } catch (RuntimeException | Error e) {
            log.error("an event was lost; this is a bug in Podcache", e);
            return Optional.empty();
        }
    }

    private void write(EventCorrelator.Correlated correlated, int tries, Event added) {
        if (isClosed()) {
            return;
        }
        send(correlated).whenComplete((written, thrown) -> {
            boolean handled = false;
            try {
                if (written != null) {
                    givingUp = false;
                    correlator.written(correlated.key(), written);
                    ended(added);
                } else if (!isClosed()) { // once closed, the request may have failed because its connection was closed
                    failed(correlated, tries, thrown, added);
                }
                handled = true;
            } finally {
                if (!handled) {
                    // what was thrown must not keep the other events from being written
                    ended(added);
                }
            }
        });
    }

    private void failed(EventCorrelator.Correlated correlated, int tries, @Nullable Throwable thrown, Event added) {
        if (mayPass(thrown) && tries < MAX_TRIES) {
            pause.then(RETRIES.pause(tries, random.getAsDouble(), thrown), () -> write(correlated, tries + 1, added));
        } else {
            giveUp(correlated.event(), thrown);
            pause.over(NEXT_EVENT.pause(tries, 0, thrown)).thenRun(() -> ended(added));
        }
    }

    private CompletableFuture<Event> send(EventCorrelator.Correlated correlated) {
        Event event = correlated.event();
        String patch = correlated.patch();
        // in a stage, so that an exception of the port becomes a failure of the future
        return CompletableFuture.<@Nullable Void>completedFuture(null)
                .thenCompose(begun -> patch == null ? events.create(event) : patchOrCreate(event, patch));
    }

    private CompletableFuture<Event> patchOrCreate(Event event, String patch) {
        ObjectKey key = ObjectKey.of(
                event.getMetadata().getNamespace(), event.getMetadata().getName());
        return events.patch(key, patch)
                .exceptionallyCompose(thrown -> ApiServerException.reasonOf(thrown) == FailureReason.NOT_FOUND
                        ? events.create(event)
                        : CompletableFuture.failedFuture(thrown));
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void giveUp(Event event, @Nullable Throwable thrown) {
        String about = event.getInvolvedObject().getKind() + " "
                + event.getInvolvedObject().getName();
        if (ApiServerException.reasonOf(thrown) == FailureReason.ALREADY_EXISTS) {
            // an earlier try created the event, but its answer was lost
            log.debug("event {} about {} was already written", event.getReason(), about, thrown);
            return;
        }
        // one warning if all events are refused, such as for lack of permission
        log.atLevel(givingUp ? Level.DEBUG : Level.WARN)
                .log(
                        "event {} about {} was not written: {}; it is lost",
                        event.getReason(),
                        about,
                        ApiServerException.describe(thrown));
        givingUp = true;
    }

    /** Returns whether a later try may succeed. Any other failure is the server's answer to this event. */
    private static boolean mayPass(@Nullable Throwable thrown) {
        FailureReason reason = ApiServerException.reasonOf(thrown);
        return reason != null && Retries.mayPass(reason);
    }
}
