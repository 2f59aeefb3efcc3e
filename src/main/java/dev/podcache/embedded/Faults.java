package dev.podcache.embedded;

import com.google.common.collect.ImmutableList;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * The faults that a test or demonstration injects into a server. A fault affects the requests that match its
 * {@link RequestPattern}. If several faults match a request, the one added first applies. Thread-safe.
 *
 * <p>A server asks {@link #outcomeOf} for each request and {@link #outcomeOfEvent} for each event, and applies the
 * outcome.
 */
public final class Faults {

    private final List<RequestFault> faults = new CopyOnWriteArrayList<>();
    private final List<EventFault> eventFaults = new CopyOnWriteArrayList<>();
    private final Map<OpenedWatch, ApiRequest> watches = new ConcurrentHashMap<>();
    private volatile RequestObserver observer = RequestObserver.NONE;

    /** An active fault. */
    @FunctionalInterface
    public interface Switched extends AutoCloseable {
        /** Deactivates the fault. Idempotent. */
        @Override
        void close();
    }

    /** An open watch that a server has registered with {@link Faults#opened}. */
    @FunctionalInterface
    public interface OpenedWatch {
        /** Breaks the connection of the watch. */
        void reset();
    }

    private record RequestFault(RequestPattern pattern, RequestOutcome outcome, AtomicInteger remaining) {
        boolean applies(ApiRequest request) {
            return !isOver() && pattern.matches(request) && takeOne(remaining);
        }

        /** Returns whether the fault can be removed: no request is left to affect, and none is left to release. */
        boolean isOver() {
            return outcome instanceof RequestOutcome.Hold hold ? hold.held().isReleased() : remaining.get() <= 0;
        }
    }

    private record EventFault(RequestPattern pattern, EventOutcome outcome, AtomicInteger remaining) {
        boolean applies(ApiRequest watch) {
            return pattern.matches(watch) && takeOne(remaining);
        }

        boolean isOver() {
            return remaining.get() <= 0;
        }
    }

    /** Answers the next {@code times} matching requests with {@code error}. */
    public Switched failNext(int times, StatusException error, RequestPattern pattern) {
        return add(new RequestFault(pattern, new RequestOutcome.Fail(error), new AtomicInteger(times)));
    }

    /** Answers matching requests with {@code error} until the returned fault is closed. */
    public Switched fail(StatusException error, RequestPattern pattern) {
        return failNext(Integer.MAX_VALUE, error, pattern);
    }

    /** Closes the connection of matching requests without an answer until the returned fault is closed. */
    public Switched refuse(RequestPattern pattern) {
        return add(new RequestFault(pattern, new RequestOutcome.Refuse(), new AtomicInteger(Integer.MAX_VALUE)));
    }

    /** Delays matching requests by {@code delay} until the returned fault is closed. */
    public Switched delay(Duration delay, RequestPattern pattern) {
        return add(new RequestFault(pattern, new RequestOutcome.Delay(delay), new AtomicInteger(Integer.MAX_VALUE)));
    }

    /**
     * Holds the answers to matching requests until they are released. The answer has the state at the arrival of the
     * request; a watch starts at its release.
     */
    public HeldRequests hold(RequestPattern pattern) {
        return hold(Integer.MAX_VALUE, pattern, new HeldRequests(false));
    }

    /**
     * Holds the answers to the next {@code times} matching requests, as {@link #hold} does. Later requests are not
     * affected.
     */
    public HeldRequests holdNext(int times, RequestPattern pattern) {
        return hold(times, pattern, new HeldRequests(false));
    }

    /** Holds matching requests until they are released. The answer has the state at the release. */
    public HeldRequests holdBeforeReading(RequestPattern pattern) {
        return hold(Integer.MAX_VALUE, pattern, new HeldRequests(true));
    }

    /** Loses the next {@code times} events of matching watches. */
    public Switched dropEvents(int times, RequestPattern pattern) {
        return add(new EventFault(pattern, EventOutcome.DROP, new AtomicInteger(times)));
    }

    /** Sends the next {@code times} events of matching watches twice. */
    public Switched duplicateEvents(int times, RequestPattern pattern) {
        return add(new EventFault(pattern, EventOutcome.DUPLICATE, new AtomicInteger(times)));
    }

    /** Breaks the connection of a matching watch in the middle of its next event. */
    public Switched cutNextEvent(RequestPattern pattern) {
        return add(new EventFault(pattern, EventOutcome.CUT, new AtomicInteger(1)));
    }

    /** Breaks the connections of all open watches that match. */
    public void resetWatches(RequestPattern pattern) {
        ImmutableList<OpenedWatch> matching = watches.entrySet().stream()
                .filter(watch -> pattern.matches(watch.getValue()))
                .map(Map.Entry::getKey)
                .collect(ImmutableList.toImmutableList());
        matching.forEach(OpenedWatch::reset);
    }

    /** Reports requests and watches to {@code newObserver} from now on. Replaces the previous observer. */
    public void observe(RequestObserver newObserver) {
        observer = Objects.requireNonNull(newObserver, "newObserver");
    }

    /** Removes all faults and releases all held requests. */
    public void clear() {
        ImmutableList<RequestFault> cleared = ImmutableList.copyOf(faults);
        faults.clear();
        eventFaults.clear();
        for (RequestFault fault : cleared) {
            if (fault.outcome() instanceof RequestOutcome.Hold hold) {
                hold.held().release();
            }
        }
    }

    /**
     * Returns what the server must do with a request. Called by the server once per request, because each call counts
     * against limited faults.
     */
    public RequestOutcome outcomeOf(ApiRequest request) {
        observer.requested(request);
        Optional<RequestFault> applying =
                faults.stream().filter(fault -> fault.applies(request)).findFirst();
        faults.removeIf(RequestFault::isOver);
        return applying.map(RequestFault::outcome).orElseGet(RequestOutcome.Pass::new);
    }

    /**
     * Returns what the server must do with the next event of a watch. Called by the server once per event, because each
     * call counts against limited faults.
     */
    public EventOutcome outcomeOfEvent(ApiRequest watch) {
        Optional<EventFault> applying =
                eventFaults.stream().filter(fault -> fault.applies(watch)).findFirst();
        eventFaults.removeIf(EventFault::isOver);
        return applying.map(EventFault::outcome).orElse(EventOutcome.PASS);
    }

    /** Returns the number of faults that are neither closed nor exhausted. */
    int size() {
        return faults.size() + eventFaults.size();
    }

    /**
     * Registers an open watch, which {@link #resetWatches} can break until {@link #closed} is called. Called by the
     * server.
     */
    public void opened(OpenedWatch watch, ApiRequest request) {
        watches.put(watch, request);
        observer.opened(request);
    }

    /** Removes a watch that has ended. Called by the server. */
    public void closed(OpenedWatch watch) {
        ApiRequest closed = watches.remove(watch);
        if (closed != null) {
            observer.closed(closed);
        }
    }

    private HeldRequests hold(int times, RequestPattern pattern, HeldRequests held) {
        add(new RequestFault(pattern, new RequestOutcome.Hold(held), new AtomicInteger(times)));
        return held;
    }

    private Switched add(RequestFault fault) {
        faults.add(fault);
        return () -> faults.removeIf(Predicate.isEqual(fault));
    }

    private Switched add(EventFault fault) {
        eventFaults.add(fault);
        return () -> eventFaults.removeIf(Predicate.isEqual(fault));
    }

    private static boolean takeOne(AtomicInteger remaining) {
        return remaining.getAndUpdate(n -> n > 0 ? n - 1 : 0) > 0;
    }
}
