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
 * What goes wrong at a server, switched on by a test or a demonstration and obeyed by whoever serves the cluster. Of
 * several faults that concern a request the one that was switched on first decides. Thread-safe.
 */
public final class Faults {

    private final List<PlannedFault> faults = new CopyOnWriteArrayList<>();
    private final List<EventFault> eventFaults = new CopyOnWriteArrayList<>();
    private final Map<OpenedWatch, ApiRequest> watches = new ConcurrentHashMap<>();
    private volatile RequestObserver observer = RequestObserver.NONE;

    /** A fault that is on. */
    @FunctionalInterface
    public interface Switched extends AutoCloseable {
        /** Switches it off. Idempotent. */
        @Override
        void close();
    }

    /** A watch that a server has told about. */
    @FunctionalInterface
    public interface OpenedWatch {
        /** Breaks its connection. */
        void reset();
    }

    private record PlannedFault(RequestPattern pattern, RequestOutcome fate, AtomicInteger left) {
        boolean strikes(ApiRequest request) {
            return !isOver() && pattern.matches(request) && takeOne(left);
        }

        /** Whether nothing is left to strike or, of what it holds, to release. */
        boolean isOver() {
            return fate instanceof RequestOutcome.Hold hold ? hold.held().isReleased() : left.get() <= 0;
        }
    }

    private record EventFault(RequestPattern pattern, EventOutcome fate, AtomicInteger left) {
        boolean strikes(ApiRequest watch) {
            return pattern.matches(watch) && takeOne(left);
        }

        boolean isOver() {
            return left.get() <= 0;
        }
    }

    /** Answers the next {@code times} matching requests with {@code error}. */
    public Switched failNext(int times, StatusException error, RequestPattern pattern) {
        return add(new PlannedFault(pattern, new RequestOutcome.Fail(error), new AtomicInteger(times)));
    }

    /** Answers matching requests with {@code error} until switched off. */
    public Switched fail(StatusException error, RequestPattern pattern) {
        return failNext(Integer.MAX_VALUE, error, pattern);
    }

    /** Closes the connection of matching requests without an answer until switched off. */
    public Switched refuse(RequestPattern pattern) {
        return add(new PlannedFault(pattern, new RequestOutcome.Refuse(), new AtomicInteger(Integer.MAX_VALUE)));
    }

    /** Answers matching requests {@code delay} later until switched off. */
    public Switched delay(Duration delay, RequestPattern pattern) {
        return add(new PlannedFault(pattern, new RequestOutcome.Delay(delay), new AtomicInteger(Integer.MAX_VALUE)));
    }

    /** Reads what matching requests ask for when they come, and answers them when released. */
    public Held hold(RequestPattern pattern) {
        return hold(Integer.MAX_VALUE, pattern, new Held(false));
    }

    /** The same for the next {@code times} matching requests only: those after them pass. */
    public Held holdNext(int times, RequestPattern pattern) {
        return hold(times, pattern, new Held(false));
    }

    /** Holds matching requests; what they ask for is read when they are released. */
    public Held holdBeforeReading(RequestPattern pattern) {
        return hold(Integer.MAX_VALUE, pattern, new Held(true));
    }

    /** Loses the next {@code times} events of matching watches. */
    public Switched dropEvents(int times, RequestPattern pattern) {
        return add(new EventFault(pattern, EventOutcome.DROP, new AtomicInteger(times)));
    }

    /** Sends the next {@code times} events of matching watches twice. */
    public Switched duplicateEvents(int times, RequestPattern pattern) {
        return add(new EventFault(pattern, EventOutcome.DUPLICATE, new AtomicInteger(times)));
    }

    /** Breaks a matching watch in the middle of its next event. */
    public Switched cutNextEvent(RequestPattern pattern) {
        return add(new EventFault(pattern, EventOutcome.CUT, new AtomicInteger(1)));
    }

    /** Breaks the connections of the matching watches that are open. */
    public void resetWatches(RequestPattern pattern) {
        ImmutableList<OpenedWatch> concerned = watches.entrySet().stream()
                .filter(watch -> pattern.matches(watch.getValue()))
                .map(Map.Entry::getKey)
                .collect(ImmutableList.toImmutableList());
        concerned.forEach(OpenedWatch::reset);
    }

    /** Reports every request and every watch from now on to {@code told}, which replaces the observer before it. */
    public void observe(RequestObserver told) {
        observer = Objects.requireNonNull(told, "told");
    }

    /** Switches everything off and releases what is held. */
    public void clear() {
        ImmutableList<PlannedFault> cleared = ImmutableList.copyOf(faults);
        faults.clear();
        eventFaults.clear();
        for (PlannedFault fault : cleared) {
            if (fault.fate() instanceof RequestOutcome.Hold hold) {
                hold.held().release();
            }
        }
    }

    /** For a server: what happens to this request. Counts it. */
    public RequestOutcome fateOf(ApiRequest request) {
        observer.requested(request);
        Optional<PlannedFault> striking =
                faults.stream().filter(fault -> fault.strikes(request)).findFirst();
        faults.removeIf(PlannedFault::isOver);
        return striking.map(PlannedFault::fate).orElseGet(RequestOutcome.Pass::new);
    }

    /** For a server: what happens to the next event of this watch. Counts it. */
    public EventOutcome fateOfEvent(ApiRequest watch) {
        Optional<EventFault> striking =
                eventFaults.stream().filter(fault -> fault.strikes(watch)).findFirst();
        eventFaults.removeIf(EventFault::isOver);
        return striking.map(EventFault::fate).orElse(EventOutcome.PASS);
    }

    /** How many faults are kept: those that are neither switched off nor over. */
    int size() {
        return faults.size() + eventFaults.size();
    }

    /** For a server: a watch is open, and can be reset until {@link #closed}. */
    public void opened(OpenedWatch watch, ApiRequest request) {
        watches.put(watch, request);
        observer.opened(request);
    }

    /** For a server: the watch is over. */
    public void closed(OpenedWatch watch) {
        ApiRequest closed = watches.remove(watch);
        if (closed != null) {
            observer.closed(closed);
        }
    }

    private Held hold(int times, RequestPattern pattern, Held held) {
        add(new PlannedFault(pattern, new RequestOutcome.Hold(held), new AtomicInteger(times)));
        return held;
    }

    private Switched add(PlannedFault fault) {
        faults.add(fault);
        return () -> faults.removeIf(Predicate.isEqual(fault));
    }

    private Switched add(EventFault fault) {
        eventFaults.add(fault);
        return () -> eventFaults.removeIf(Predicate.isEqual(fault));
    }

    private static boolean takeOne(AtomicInteger left) {
        return left.getAndUpdate(n -> n > 0 ? n - 1 : 0) > 0;
    }
}
