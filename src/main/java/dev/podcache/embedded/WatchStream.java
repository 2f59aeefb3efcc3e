package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A watch as it goes over the wire: one JSON object a line, for as long as client and server please. */
final class WatchStream implements WatchListener, Faults.OpenedWatch {

    // Everything is written on the connection's event loop: the cluster tells events one at a time and in order, and
    // a loop runs what it is given in order. So the fields below belong to that loop.

    private final ApiRequest request;
    private final HttpServerResponse response;
    private final Context loop;
    private final Function<ClusterEvent, ObjectNode> format;
    private final Faults faults;
    private Runnable whenOver = () -> {};
    private @Nullable ClusterWatch watch;
    private boolean over;

    WatchStream(ApiCall call, Context loop, Function<ClusterEvent, ObjectNode> format, Faults faults) {
        this.request = call.request();
        this.response = call.http().response();
        this.loop = loop;
        this.format = format;
        this.faults = faults;
    }

    ApiRequest request() {
        return request;
    }

    /** Begins the answer and follows the cluster; to be called on the event loop, once. */
    void open(Function<WatchListener, ClusterWatch> opening, Runnable newWhenOver) {
        whenOver = newWhenOver;
        response.closeHandler(closed -> leave());
        response.exceptionHandler(failure -> leave());
        response.setStatusCode(200)
                .putHeader("Content-Type", "application/json")
                .setChunked(true);
        response.writeHead();
        ClusterWatch opened = opening.apply(this);
        watch = opened;
        if (over) {
            opened.close();
        }
    }

    @Override
    public void event(ClusterEvent event) {
        loop.runOnContext(nothing -> send(event));
    }

    @Override
    public void ended() {
        loop.runOnContext(nothing -> {
            if (leave()) {
                response.end();
            }
        });
    }

    @Override
    public void reset() {
        loop.runOnContext(nothing -> {
            if (leave()) {
                response.reset();
            }
        });
    }

    private void send(ClusterEvent event) {
        if (over) {
            return;
        }
        Buffer line = HttpAnswer.encoded(format.apply(event)).appendByte((byte) '\n');
        switch (fateOf(event)) {
            case PASS -> response.write(line);
            case DROP -> {}
            case DUPLICATE -> {
                response.write(line.copy());
                response.write(line);
            }
            case CUT -> {
                leave();
                response.write(line.slice(0, line.length() / 2)).onComplete(written -> response.reset());
            }
        }
    }

    private EventOutcome fateOf(ClusterEvent event) {
        return switch (event.type()) {
            case ADDED, MODIFIED, DELETED -> faults.fateOfEvent(request);
            case BOOKMARK, ERROR -> EventOutcome.PASS;
        };
    }

    /** Whether it was not over yet. */
    private boolean leave() {
        if (over) {
            return false;
        }
        over = true;
        if (watch != null) {
            watch.close();
        }
        whenOver.run();
        return true;
    }
}
