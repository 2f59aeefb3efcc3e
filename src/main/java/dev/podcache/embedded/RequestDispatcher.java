package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.LoopbackHost;
import dev.podcache.object.Quoted;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
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
    private final Discovery discovery;
    private final Faults faults = new Faults();
    private final RequestCounts counts = new RequestCounts();
    private final Set<WatchStream> watches = ConcurrentHashMap.newKeySet();
    private final Tables tables;
    private final ObjectRequests objects;
    private final TokenEndpoint tokens;
    private final AccessControl access;

    RequestDispatcher(Vertx vertx, InMemoryCluster cluster, String version, AccessControl access) {
        this.vertx = vertx;
        this.cluster = cluster;
        this.discovery = new Discovery(cluster::served, version);
        this.access = access;
        this.tables = new Tables(cluster::now);
        this.objects = new ObjectRequests(cluster, tables, access);
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
        requireHostOfThisMachine(http);
        requireDecodable(http);
        String urlPath = AccessControl.pathOf(http);
        RequestPath path = RequestPath.parse(cluster.served(), urlPath);
        if (path == null) {
            access.require(http);
        }
        HttpAnswer found = path == null ? discovery.answer(urlPath) : null;
        if (found != null) {
            found.send(http.response());
            return;
        }
        boolean token = TokenEndpoint.isAt(urlPath);
        if (path == null && !token) {
            throw StatusException.unknownPath();
        }
        if (body.length() > MAX_BODY_BYTES) {
            throw StatusException.of(
                    413, "RequestEntityTooLarge", "Request entity too large: limit is " + MAX_BODY_BYTES);
        }
        if (path == null) {
            tokens.answer(http.method().name(), urlPath, body).send(http.response());
            return;
        }
        if (ApiCall.verbOf(http, path) == null) {
            access.require(http);
        }
        ApiCall call = ApiCall.of(http, path, body);
        counts.add(call.verb(), path.resource());
        applyFaults(call, eventLoop);
    }

    private static void requireHostOfThisMachine(HttpServerRequest http) {
        // only HTTP/2 has an authority without a Host header
        String header = http.getHeader(HttpHeaders.HOST);
        String host =
                header == null && http.authority() != null ? http.authority().toString() : header;
        if (!LoopbackHost.isOfThisMachine(host == null ? "" : host, EmbeddedApiServer.LOOPBACK)) {
            throw StatusException.of(
                    403,
                    "Forbidden",
                    "this server is for clients of this machine, which ask for localhost or 127.0.0.1; this request is for host "
                            + Quoted.value(host == null ? "" : host));
        }
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
        access.require(call.http());
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
