package dev.podcache.apiserver.fabric8;

import dev.podcache.testing.Patience;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An API server of one Node and one Lease, on loopback, whose answers take the time of a test, and whose
 * connections freeze as far as a client can tell. It knows, for the clock of that test, when requests have arrived
 * and when there is nothing to wait for.
 */
final class HeartbeatServer implements AutoCloseable {

    // Everything below is guarded by this: requests come on an event loop, and the test's time
    // passes on another thread.

    private static final Duration PATIENCE = Duration.ofSeconds(Patience.SECONDS);

    private final Timekeeper time;
    private final Vertx vertx =
            Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setUseDaemonThread(true));
    private final HttpServer server = vertx.createHttpServer().requestHandler(this::arrived);
    private final Set<HttpConnection> known = new HashSet<>();
    private final Map<HttpConnection, Boolean> frozen = new HashMap<>(); // whether it still hears
    private final List<Duration> renewals = new ArrayList<>();
    private Duration delay = Duration.ZERO;
    private boolean commitsFirst = true;
    private boolean ignoresReports;
    private int arrivals;
    private boolean lastAnswered;
    private @Nullable Lease lease;
    private long version;

    HeartbeatServer(Timekeeper time) {
        this.time = time;
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    String url() {
        return "http://127.0.0.1:" + server.actualPort();
    }

    /**
     * Freezes the connections that were used so far: nothing that the server says comes back.
     *
     * @param hears whether requests still take effect
     */
    synchronized void freeze(boolean hears) {
        known.forEach(connection -> frozen.put(connection, hears));
    }

    /**
     * Has each answer take so long.
     *
     * @param first whether a request takes effect as soon as it comes, rather than shortly before its answer
     */
    synchronized void answerAfter(Duration duration, boolean first) {
        delay = duration;
        commitsFirst = first;
    }

    /** Answers no report of the node's status any more. */
    synchronized void ignoreReports() {
        ignoresReports = true;
    }

    /** When the lease was renewed, from the beginning of time. */
    synchronized List<Duration> renewals() {
        return List.copyOf(renewals);
    }

    /**
     * Waits until all that is to happen now has happened.
     *
     * @param begun how many calls have begun
     * @param ended how many of them have ended, with all that followed at once
     */
    synchronized void awaitQuiet(IntSupplier begun, IntSupplier ended) {
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        while (!isQuiet(begun, ended)) {
            if (System.nanoTime() > giveUp) {
                throw new AssertionError("a request does not come to the server, or an answer not to the client");
            }
            try {
                wait(1); // calls end without telling
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }
    }

    private boolean isQuiet(IntSupplier begun, IntSupplier ended) {
        int before = ended.getAsInt(); // read first: what ends now may begin another
        return arrivals == Math.min(begun.getAsInt(), before + 1) && before >= (lastAnswered ? arrivals : arrivals - 1);
    }

    private void arrived(HttpServerRequest request) {
        request.body().onSuccess(body -> {
            synchronized (this) {
                arrivals++;
                notifyAll();
                lastAnswered = false;
                known.add(request.connection());
                Boolean hears = frozen.get(request.connection());
                boolean ignored = ignoresReports && request.method().equals(HttpMethod.PATCH);
                if (ignored || (hears != null && !hears)) {
                    return;
                }
                HeartbeatAnswer early = commitsFirst || delay.isZero() ? commit(request, body.toString()) : null;
                if (hears == null) {
                    answerLater(request, body.toString(), early);
                }
            }
        });
    }

    private record HeartbeatAnswer(int code, String body) {}

    private void answerLater(HttpServerRequest request, String body, @Nullable HeartbeatAnswer early) {
        int number = arrivals;
        if (delay.isZero() && early != null) {
            answer(request, early, number);
        } else {
            time.schedule(delay, () -> {
                synchronized (this) {
                    answer(request, early == null ? commit(request, body) : early, number);
                }
            });
        }
    }

    private void answer(HttpServerRequest request, HeartbeatAnswer answer, int number) {
        if (frozen.containsKey(request.connection())) {
            return;
        }
        lastAnswered |= number == arrivals;
        vertx.runOnContext(now -> {
            if (!request.response().closed()) {
                request.response().setStatusCode(answer.code()).end(answer.body());
            }
        });
    }

    private HeartbeatAnswer commit(HttpServerRequest request, String body) {
        if (request.path().contains("/nodes/")) {
            return new HeartbeatAnswer(
                    200,
                    Serialization.asJson(new NodeBuilder()
                            .withNewMetadata()
                            .withName("n")
                            .withUid("uid-n")
                            .endMetadata()
                            .build()));
        }
        if (request.method().equals(HttpMethod.GET)) {
            Lease there = lease;
            return there == null ? status(404, "NotFound") : new HeartbeatAnswer(200, Serialization.asJson(there));
        }
        Lease sent = Serialization.unmarshal(body, Lease.class);
        if (lease != null && !String.valueOf(version).equals(sent.getMetadata().getResourceVersion())) {
            return status(409, "Conflict");
        }
        Lease renewed = new LeaseBuilder(sent)
                .editMetadata()
                .withResourceVersion(String.valueOf(++version))
                .endMetadata()
                .build();
        lease = renewed;
        renewals.add(Duration.ofNanos(time.nanoTime()));
        return new HeartbeatAnswer(200, Serialization.asJson(renewed));
    }

    private static HeartbeatAnswer status(int code, String reason) {
        return new HeartbeatAnswer(
                code,
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"%s\",\"code\":%d}"
                        .formatted(reason, code));
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
