package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles the HTTP requests of an {@link EmbeddedApiServer}: applies faults, calls the cluster and sends the answers.
 */
final class RequestDispatcher {

    private static final Logger log = LoggerFactory.getLogger(EmbeddedApiServer.class);
    private static final int MAX_BODY_BYTES = 3 << 20;

    private final Vertx vertx;
    private final InMemoryCluster cluster;
    private final String version;
    private final Faults faults = new Faults();
    private final RequestCounts counts = new RequestCounts();
    private final Set<WatchStream> watches = ConcurrentHashMap.newKeySet();
    private final Tables tables;
    private final ObjectRequests objects;
    private final TokenEndpoint tokens;

    RequestDispatcher(Vertx vertx, InMemoryCluster cluster, String version) {
        this.vertx = vertx;
        this.cluster = cluster;
        this.version = version;
        this.tables = new Tables(cluster::now);
        this.objects = new ObjectRequests(cluster, tables);
        this.tokens = new TokenEndpoint(cluster);
    }

    Faults faults() {
        return faults;
    }

    RequestCounts counts() {
        return counts;
    }

    int openWatches() {
        return watches.size();
    }

    /** Answers a request. Called on the event loop of its connection. */
    void handle(HttpServerRequest http) {
        Context eventLoop = vertx.getOrCreateContext();
        Buffer body = Buffer.buffer();
        http.handler(chunk -> {
            // a body that exceeds the limit shows that it is too long; further chunks are discarded
            if (body.length() <= MAX_BODY_BYTES) {
                body.appendBuffer(chunk);
            }
        });
        // a client that disconnects before the end of its body gets no answer; this is not an error of the server
        http.exceptionHandler(gone -> {});
        http.endHandler(complete -> guarded(http, () -> answer(http, body, eventLoop)));
    }

    /**
     * Runs a step of a request. Answers the request with an error if the step throws, so that no client waits for ever.
     */
    private static void guarded(HttpServerRequest http, Runnable step) {
        try {
            step.run();
        } catch (StatusException e) {
            HttpAnswer.error(e).send(http.response());
        } catch (RuntimeException e) {
            // the message may quote a payload
            log.error(
                    "{} {} failed: {}; answered with 500",
                    http.method(),
                    http.path(),
                    e.getClass().getName());
            HttpAnswer.error(StatusException.of(500, "InternalError", "Internal error occurred"))
                    .send(http.response());
        }
    }

    private void answer(HttpServerRequest http, Buffer body, Context eventLoop) {
        requireDecodable(http);
        HttpAnswer discovery = Discovery.answer(http.path(), version);
        if (discovery != null) {
            discovery.send(http.response());
            return;
        }
        RequestPath path = RequestPath.parse(http.path());
        boolean token = TokenEndpoint.isAt(http.path());
        if (path == null && !token) {
            throw StatusException.of(404, "NotFound", "the server could not find the requested resource");
        }
        if (body.length() > MAX_BODY_BYTES) {
            throw StatusException.of(
                    413, "RequestEntityTooLarge", "Request entity too large: limit is " + MAX_BODY_BYTES);
        }
        if (path == null) {
            tokens.answer(http, body).send(http.response());
            return;
        }
        ApiCall call = ApiCall.of(http, path, body);
        counts.add(call.verb(), path.resource());
        applyFaults(call, eventLoop);
    }

    private static void requireDecodable(HttpServerRequest http) {
        try {
            http.params();
            // called for the exception only: RequestPath decodes each segment itself
            String unused = URLDecoder.decode(http.path(), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw StatusException.badRequest(
                    "the URL of the request has an invalid escape sequence; a percent sign is written as %25");
        }
    }

    private void applyFaults(ApiCall call, Context eventLoop) {
        RequestOutcome outcome = faults.outcomeOf(call.request());
        if (outcome instanceof RequestOutcome.Refuse) {
            call.http().connection().close();
        } else if (outcome instanceof RequestOutcome.Fail fail) {
            HttpAnswer.error(fail.error()).send(call.http().response());
        } else if (outcome instanceof RequestOutcome.Delay delay) {
            vertx.setTimer(Math.max(1, delay.duration().toMillis()), timer -> proceed(call, eventLoop));
        } else if (outcome instanceof RequestOutcome.Hold hold) {
            hold(call, eventLoop, hold.held());
        } else {
            proceed(call, eventLoop);
        }
    }

    private void hold(ApiCall call, Context eventLoop, HeldRequests held) {
        if (held.readsAtRelease() || call.verb() == Verb.WATCH) {
            held.arrive().thenRun(() -> eventLoop.runOnContext(nothing -> proceed(call, eventLoop)));
            return;
        }
        HttpAnswer answer = objects.answer(call);
        held.arrive()
                .thenRun(() -> eventLoop.runOnContext(
                        nothing -> answer.send(call.http().response())));
    }

    private void proceed(ApiCall call, Context eventLoop) {
        guarded(call.http(), () -> {
            if (call.verb() == Verb.WATCH) {
                watch(call, eventLoop);
            } else {
                objects.answer(call).send(call.http().response());
            }
        });
    }

    private void watch(ApiCall call, Context eventLoop) {
        if ("websocket".equalsIgnoreCase(call.http().getHeader("Upgrade"))) {
            // fabric8 requests a WebSocket first, and falls back to a stream when it gets an ordinary response
            call.http().response().end();
            return;
        }
        Resource resource = call.path().resource();
        Selection selection = call.selection();
        WatchOptions options = new WatchOptions(
                call.parameter("resourceVersion"),
                call.sendsInitialEvents(),
                Boolean.parseBoolean(call.parameter("allowWatchBookmarks")),
                Duration.ofSeconds(call.seconds("timeoutSeconds")));
        ObjectNames.version(options.resourceVersion());
        if (call.http().response().closed()) {
            // the client disconnected while the request was held or delayed; a close handler set now would never run
            return;
        }
        WatchStream stream = new WatchStream(call, eventLoop, format(call), faults);
        watches.add(stream);
        faults.opened(stream, stream.request());
        stream.open(listener -> cluster.watch(resource, selection, options, listener), () -> {
            watches.remove(stream);
            faults.closed(stream);
        });
    }

    private Function<ClusterEvent, ObjectNode> format(ApiCall call) {
        Resource resource = call.path().resource();
        boolean table = call.wantsTable();
        return event -> {
            ObjectNode line =
                    Json.MAPPER.createObjectNode().put("type", event.type().name());
            boolean row = table && event.type() != ClusterEvent.ChangeType.ERROR;
            return line.set("object", row ? rows(resource, event) : event.object());
        };
    }

    private ObjectNode rows(Resource resource, ClusterEvent event) {
        if (event.type() != ClusterEvent.ChangeType.BOOKMARK) {
            return tables.row(resource, event.object());
        }
        String version = event.object().path("metadata").path("resourceVersion").asText();
        return tables.table(resource, ImmutableList.of(), version);
    }
}
