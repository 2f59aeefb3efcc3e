package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A watch response over HTTP: one JSON object per line, until the client or the server ends it. */
final class WatchStream implements WatchListener, Faults.OpenedWatch {

    // The response is written on the event loop of its connection. The cluster delivers events in order and one at a
    // time, and an event loop runs tasks in order. The fields below are confined to the event loop.

    private final ApiRequest request;
    private final HttpServerResponse response;
    private final Context eventLoop;
    private final Function<ClusterEvent, ObjectNode> format;
    private final Faults faults;
    private Runnable onEnd = () -> {};
    private @Nullable ClusterWatch watch;
    private boolean ended;

    WatchStream(ApiCall call, Context eventLoop, Function<ClusterEvent, ObjectNode> format, Faults faults) {
        this.request = call.request();
        this.response = call.http().response();
        this.eventLoop = eventLoop;
        this.format = format;
        this.faults = faults;
    }

    ApiRequest request() {
        return request;
    }

    /**
     * Starts the response and the watch. Must be called once, on the event loop.
     *
     * @param opening opens the watch with the listener that it is given
     * @param newOnEnd runs when the watch ends
     */
    void open(Function<WatchListener, ClusterWatch> opening, Runnable newOnEnd) {
        onEnd = newOnEnd;
        response.closeHandler(closed -> end());
        response.exceptionHandler(failure -> end());
        response.setStatusCode(200)
                .putHeader("Content-Type", "application/json")
                .setChunked(true);
        response.writeHead();
        ClusterWatch opened = opening.apply(this);
        watch = opened;
        if (ended) {
            opened.close();
        }
    }

    @Override
    public void event(ClusterEvent event) {
        eventLoop.runOnContext(nothing -> send(event));
    }

    @Override
    public void ended() {
        eventLoop.runOnContext(nothing -> {
            if (end()) {
                response.end();
            }
        });
    }

    @Override
    public void reset() {
        eventLoop.runOnContext(nothing -> {
            if (end()) {
                cut();
            }
        });
    }

    private void send(ClusterEvent event) {
        if (ended) {
            return;
        }
        Buffer line = HttpAnswer.encoded(format.apply(event)).appendByte((byte) '\n');
        switch (outcomeOf(event)) {
            case PASS -> HttpAnswer.write(response, line);
            case DROP -> {}
            case DUPLICATE -> {
                HttpAnswer.write(response, line);
                HttpAnswer.write(response, line);
            }
            case CUT -> {
                end();
                response.write(line.slice(0, line.length() / 2)).onComplete(written -> cut());
            }
        }
    }

    /** Resets the stream of HTTP/2, or closes the connection of HTTP/1.1. */
    private void cut() {
        try {
            // it returns a boolean in Vert.x 4 and a future in Vert.x 5
            HttpServerResponse.class.getMethod("reset").invoke(response);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a response cannot be reset", e);
        }
    }

    private EventOutcome outcomeOf(ClusterEvent event) {
        return switch (event.type()) {
            case ADDED, MODIFIED, DELETED -> faults.outcomeOfEvent(request);
            case BOOKMARK, ERROR -> EventOutcome.PASS;
        };
    }

    /** Ends the watch. Returns whether it was open. */
    private boolean end() {
        if (ended) {
            return false;
        }
        ended = true;
        if (watch != null) {
            watch.close();
        }
        onEnd.run();
        return true;
    }
}
