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

/** From HTTP requests to the cluster and back, with whatever the faults do on the way. */
final class HttpFace {

    private static final Logger log = LoggerFactory.getLogger(EmbeddedApiServer.class);
    private static final int MAX_BODY_BYTES = 3 << 20;

    private final Vertx vertx;
    private final InMemoryCluster cluster;
    private final Faults faults = new Faults();
    private final RequestCounts counts = new RequestCounts();
    private final Set<WatchStream> watches = ConcurrentHashMap.newKeySet();
    private final Tables tables;
    private final ObjectRequests objects;

    HttpFace(Vertx vertx, InMemoryCluster cluster) {
        this.vertx = vertx;
        this.cluster = cluster;
        this.tables = new Tables(cluster::now);
        this.objects = new ObjectRequests(cluster, tables);
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

    /** Answers a request; called on the event loop of its connection. */
    void handle(HttpServerRequest http) {
        Context loop = vertx.getOrCreateContext();
        Buffer body = Buffer.buffer();
        http.handler(chunk -> {
            // one chunk more than is allowed shows that it is too long; what follows is read and dropped
            if (body.length() <= MAX_BODY_BYTES) {
                body.appendBuffer(chunk);
            }
        });
        // a client that goes away in the middle of its body gets no answer, and that is no trouble of ours
        http.exceptionHandler(gone -> {});
        http.endHandler(complete -> guarded(http, () -> answer(http, body, loop)));
    }

    /** Does the step; whatever it throws becomes an answer, so that no client waits for ever. */
    private static void guarded(HttpServerRequest http, Runnable step) {
        try {
            step.run();
        } catch (StatusException e) {
            HttpAnswer.error(e).send(http.response());
        } catch (RuntimeException e) {
            // what it says may quote a payload
            log.error(
                    "{} {} failed with {}",
                    http.method(),
                    http.path(),
                    e.getClass().getName());
            HttpAnswer.error(StatusException.of(500, "InternalError", "Internal error occurred"))
                    .send(http.response());
        }
    }

    private void answer(HttpServerRequest http, Buffer body, Context loop) {
        requireDecodable(http);
        HttpAnswer known = Discovery.answer(http.path());
        if (known != null) {
            known.send(http.response());
            return;
        }
        RequestPath path = RequestPath.parse(http.path());
        if (path == null) {
            throw StatusException.of(404, "NotFound", "the server could not find the requested resource");
        }
        if (body.length() > MAX_BODY_BYTES) {
            throw StatusException.of(
                    413, "RequestEntityTooLarge", "Request entity too large: limit is " + MAX_BODY_BYTES);
        }
        ApiCall call = ApiCall.of(http, path, body);
        counts.add(call.verb(), path.resource());
        suffer(call, loop);
    }

    private static void requireDecodable(HttpServerRequest http) {
        try {
            http.params();
            // for its effect: RequestPath decodes it piece by piece
            String unused = URLDecoder.decode(http.path(), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw StatusException.badRequest(
                    "the URL of the request has an escape that is none; write %25 for a percent sign");
        }
    }

    private void suffer(ApiCall call, Context loop) {
        RequestOutcome fate = faults.fateOf(call.request());
        if (fate instanceof RequestOutcome.Refuse) {
            call.http().connection().close();
        } else if (fate instanceof RequestOutcome.Fail fail) {
            HttpAnswer.error(fail.error()).send(call.http().response());
        } else if (fate instanceof RequestOutcome.Delay delay) {
            vertx.setTimer(Math.max(1, delay.duration().toMillis()), timer -> proceed(call, loop));
        } else if (fate instanceof RequestOutcome.Hold hold) {
            hold(call, loop, hold.held());
        } else {
            proceed(call, loop);
        }
    }

    private void hold(ApiCall call, Context loop, Held held) {
        if (held.readsAtRelease() || call.verb() == Verb.WATCH) {
            held.arrive().thenRun(() -> loop.runOnContext(nothing -> proceed(call, loop)));
            return;
        }
        HttpAnswer answer = objects.answer(call);
        held.arrive()
                .thenRun(() ->
                        loop.runOnContext(nothing -> answer.send(call.http().response())));
    }

    private void proceed(ApiCall call, Context loop) {
        guarded(call.http(), () -> {
            if (call.verb() == Verb.WATCH) {
                watch(call, loop);
            } else {
                objects.answer(call).send(call.http().response());
            }
        });
    }

    private void watch(ApiCall call, Context loop) {
        if ("websocket".equalsIgnoreCase(call.http().getHeader("Upgrade"))) {
            // fabric8 asks for a WebSocket first, and takes a plain answer as the hint to ask for a stream
            call.http().response().end();
            return;
        }
        Resource resource = call.path().resource();
        Selection selection = call.selection();
        if (!call.parameter("sendInitialEvents").isEmpty()) {
            throw StatusException.of(
                    422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for this server");
        }
        WatchOptions options = new WatchOptions(
                call.parameter("resourceVersion"),
                Boolean.parseBoolean(call.parameter("allowWatchBookmarks")),
                Duration.ofSeconds(call.seconds("timeoutSeconds")));
        ObjectNames.version(options.resourceVersion());
        if (call.http().response().closed()) {
            // the client gave up while the request was held or delayed; a close handler that is set now would never run
            return;
        }
        WatchStream stream = new WatchStream(call, loop, format(call), faults);
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
            boolean row = table && event.type() != ClusterEvent.Type.ERROR;
            return line.set("object", row ? rows(resource, event) : event.object());
        };
    }

    private ObjectNode rows(Resource resource, ClusterEvent event) {
        if (event.type() != ClusterEvent.Type.BOOKMARK) {
            return tables.row(resource, event.object());
        }
        String version = event.object().path("metadata").path("resourceVersion").asText();
        return tables.table(resource, ImmutableList.of(), version);
    }
}
