package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What an API server with a budget does to a fleet of nodes. Handshakes and requests are served in order, so many a
 * second. A connection for which the backlog has no room is tried again by the client's kernel after 1, 3 and 7 s, and
 * given up after 10 s; a request for which the queue has no room is answered with 429 and {@code Retry-After: 1}, unless
 * it is a heartbeat: Kubernetes gives those a priority level of their own. For one thread.
 */
final class FleetServer {

    private static final long CONNECT_TIMEOUT = TimeUnit.SECONDS.toNanos(10);
    private static final Duration MILLI = Duration.ofMillis(1);

    /**
     * What it can do.
     *
     * @param handshakes a second
     * @param requests a second
     * @param backlog connections that wait for their handshake, at most
     * @param queue requests that wait, at most
     */
    record Budget(int handshakes, int requests, int backlog, int queue) {}

    /** What happened in one second. */
    static final class Second {
        int dials;
        int connections;
        int requests;
        int throttled;
        int recovered;
    }

    private final Timekeeper time;
    private final Budget budget;
    private final List<Second> seconds = new ArrayList<>();
    private final boolean resumes;
    private boolean bounded;
    private boolean up = true;
    private int restarts;
    private long handshakesDone;
    private long requestsDone;

    /**
     * One that is up, and serves whatever comes until it is restarted.
     *
     * @param resumes whether it goes on with watches from before a restart, or answers them with 410
     */
    FleetServer(Timekeeper time, Budget budget, boolean resumes) {
        this.time = time;
        this.budget = budget;
        this.resumes = resumes;
    }

    /** The server is gone: whoever connects is refused. */
    void stop() {
        up = false;
        restarts++;
    }

    /** The server is back, and from now on does no more than its budget. */
    void start() {
        up = true;
        bounded = true;
        handshakesDone = time.nanoTime();
        requestsDone = time.nanoTime();
    }

    Second second() {
        int number = (int) TimeUnit.NANOSECONDS.toSeconds(time.nanoTime());
        while (seconds.size() <= number) {
            seconds.add(new Second());
        }
        return seconds.get(number);
    }

    /** Returns what happened in each second from {@code first} on. */
    List<Second> since(int first) {
        second();
        return seconds.subList(first, seconds.size());
    }

    String version() {
        return String.valueOf(100 + restarts);
    }

    boolean hasForgotten(String version) {
        return !resumes && !version.equals(version());
    }

    /** Connects, and says later that it did, or why not. */
    void connect(Consumer<@Nullable Throwable> done) {
        second().dials++;
        if (up) {
            arrive(done, time.nanoTime() + CONNECT_TIMEOUT, Duration.ofSeconds(1));
        } else {
            time.schedule(MILLI, () -> done.accept(new ConnectException("refused")));
        }
    }

    private void arrive(Consumer<@Nullable Throwable> done, long deadline, Duration again) {
        long now = time.nanoTime();
        if (!up) {
            done.accept(new ConnectException("refused"));
        } else if (!bounded) {
            time.schedule(MILLI, () -> done.accept(null));
        } else if (waiting(handshakesDone, budget.handshakes) < budget.backlog) {
            handshakesDone = Math.max(handshakesDone, now) + nanosOf(budget.handshakes);
            boolean inTime = handshakesDone < deadline;
            second().connections++;
            time.schedule(
                    Duration.ofNanos((inTime ? handshakesDone : deadline) - now),
                    () -> done.accept(inTime ? null : new SocketTimeoutException("no handshake")));
        } else if (now + again.toNanos() < deadline) {
            time.schedule(again, () -> arrive(done, deadline, again.multipliedBy(2)));
        } else {
            time.schedule(
                    Duration.ofNanos(deadline - now), () -> done.accept(new SocketTimeoutException("no connection")));
        }
    }

    /** Answers a request in its turn, or says that there are too many. An answer is lost if the server stops first. */
    void request(boolean heartbeat, Runnable answer, Consumer<ApiServerException> tooMany) {
        second().requests++;
        int before = restarts;
        if (bounded && !heartbeat && waiting(requestsDone, budget.requests) >= budget.queue) {
            second().throttled++;
            ApiServerException later = new ApiServerException(
                    FailureReason.THROTTLED, 429, Duration.ofSeconds(1), "too many requests", null);
            time.schedule(MILLI, () -> tooMany.accept(later));
            return;
        }
        long now = time.nanoTime();
        requestsDone = bounded ? Math.max(requestsDone, now) + nanosOf(budget.requests) : now + MILLI.toNanos();
        time.schedule(Duration.ofNanos(requestsDone - now), () -> {
            if (before == restarts) {
                answer.run();
            }
        });
    }

    private long waiting(long done, int perSecond) {
        return Math.max(0, done - time.nanoTime()) / nanosOf(perSecond);
    }

    private static long nanosOf(int perSecond) {
        return TimeUnit.SECONDS.toNanos(1) / perSecond;
    }
}
