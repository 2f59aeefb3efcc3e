package dev.podcache.apiserver.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request on a connection, of either protocol: tells the reader of its answer what arrives, until the answer or the request
 * ends. A reader that throws ends its own request only. There are thousands, so it has no other field. Confined to the event loop
 * of the connection.
 */
abstract class WireCall implements Wire.Stream {

    private static final Logger log = LoggerFactory.getLogger(WireCall.class);

    private Wire.@Nullable Response response; // null once over

    WireCall(Wire.Response response) {
        this.response = response;
    }

    /** Stops what the server still sends for this request. */
    abstract void stop();

    final void head(int status, Function<String, @Nullable String> headers) {
        Wire.Response open = response;
        if (open != null) {
            try {
                open.head(status, headers);
            } catch (RuntimeException | Error e) {
                thrown(e);
            }
        }
    }

    /** Returns whether the server may send more. */
    final boolean chunk(ByteBuf data) {
        Wire.Response open = response;
        if (open != null && data.isReadable()) {
            try {
                return open.chunk(ByteBufUtil.getBytes(data));
            } catch (RuntimeException | Error e) {
                thrown(e);
            }
        }
        return true;
    }

    /** Ends the request, whose answer is complete. Returns false if it was over. */
    final boolean end() {
        Wire.Response last = response;
        if (last == null) {
            return false;
        }
        response = null;
        try {
            last.end();
        } catch (RuntimeException | Error e) {
            logged(e);
        }
        return true;
    }

    /** Ends the request before its answer is complete. Does nothing if it is over. */
    final void broken(Throwable cause, boolean unprocessed) {
        Wire.Response last = response;
        if (last != null) {
            response = null;
            try {
                last.broken(cause, unprocessed);
            } catch (RuntimeException | Error e) {
                logged(e);
            }
        }
    }

    /** Catches everything, because a connection may carry other requests too. */
    private void thrown(Throwable thrown) {
        logged(thrown);
        broken(thrown, false);
        stop();
    }

    private static void logged(Throwable thrown) {
        log.error("the reader of an answer failed; this is a bug; its request fails, others go on", thrown);
    }

    @Override
    public final void reset() {
        if (response != null) {
            response = null;
            stop();
        }
    }
}
