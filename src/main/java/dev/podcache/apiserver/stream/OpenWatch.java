package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One watch: the request, its answer, its events and its end. Thread-safe.
 *
 * <p>Everything after {@link #begin}'s preparations happens on one event loop, that of {@link #context}: answers, chunks, and
 * by posting also the timer and the resets. So the consumer is called by one thread at a time and in order, without a lock.
 * {@link #over} is the only thing that other threads touch: whoever sets it first, closer or ending, has the last word, and
 * every delivery asks it.
 */
final class OpenWatch<T> implements WatchHandle {

    private static final Logger log = LoggerFactory.getLogger(OpenWatch.class);
    private static final Duration OPENS_WITHIN = Duration.ofSeconds(20);
    private static final int LONGEST_LINE = 16 * 1024 * 1024;
    private static final int LONGEST_ERROR = 64 * 1024;

    private final WatchRequest<T> request;
    private final String server;
    private final Timekeeper timekeeper;
    private final Consumer<WatchEvent<T>> events;
    private final WatchEvents<T> decoder;
    private final LineDecoder lines = new LineDecoder(LONGEST_LINE);
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile Runnable whenOver = () -> {};
    private volatile @Nullable Context context;

    private @Nullable HttpClientRequest sent; // touched on the event loop only
    private Timekeeper.@Nullable Scheduled opening; // touched on the event loop only

    OpenWatch(WatchRequest<T> request, String server, Timekeeper timekeeper, Consumer<WatchEvent<T>> events) {
        this.request = request;
        this.server = server;
        this.timekeeper = timekeeper;
        this.events = events;
        this.decoder = new WatchEvents<>(request.what(), request.decoder());
    }

    /** Has {@code action} run when the watch has ended or was closed. To be called before {@link #begin}. */
    void whenOver(Runnable action) {
        whenOver = action;
    }

    /**
     * Sends the request. May block.
     *
     * @param transports gives what watches share, or null if it is closed
     */
    void begin(Supplier<WatchConnections.@Nullable Transport> transports) {
        if (over.get()) {
            return;
        }
        try {
            WatchConnections.Transport transport = transports.get();
            if (transport == null) {
                abort();
                return;
            }
            URI uri = URI.create(server + request.path());
            RequestOptions options = options(uri, transport.credentials().headers(uri));
            if (transport.direct()) {
                options.setServer(addressOf(uri));
            }
            Context loop = transport.vertx().getOrCreateContext();
            context = loop;
            loop.runOnContext(start -> send(loop, transport, uri, options));
        } catch (UnknownHostException | RuntimeException e) {
            end(NoAnswer.because(request.what(), server, e));
        }
    }

    /** Ends it because everything is being closed. */
    void abort() {
        ApiServerException closed = ApiServerException.withoutAnswer(
                FailureReason.UNAVAILABLE, request.what(), "the connection to " + server + " has been closed", null);
        Context loop = context;
        if (loop == null) {
            end(closed);
        } else {
            post(loop, () -> end(closed));
        }
    }

    @Override
    public void close() {
        if (over.compareAndSet(false, true)) {
            whenOver.run();
            Context loop = context;
            if (loop != null) {
                post(loop, this::reset);
            }
        }
    }

    private void send(Context loop, WatchConnections.Transport transport, URI uri, RequestOptions options) {
        if (over.get()) {
            return;
        }
        opening = timekeeper.schedule(OPENS_WITHIN, () -> post(loop, this::endLate));
        transport.http().request(options).onComplete(asked -> {
            if (asked.failed()) {
                end(NoAnswer.because(request.what(), server, asked.cause()));
                return;
            }
            sent = asked.result();
            if (over.get()) {
                reset();
                return;
            }
            asked.result().exceptionHandler(this::endBroken);
            asked.result().send().onComplete(answered -> {
                if (answered.failed()) {
                    endBroken(answered.cause());
                } else if (answered.result().statusCode() == 200) {
                    follow(answered.result());
                } else {
                    refuse(answered.result(), transport.credentials(), uri);
                }
            });
        });
    }

    private void follow(HttpClientResponse response) {
        cancelOpening();
        response.handler(this::chunk);
        response.exceptionHandler(this::endBroken);
        response.endHandler(end -> {
            if (lines.insideLine()) {
                end(ApiServerException.withoutAnswer(
                        FailureReason.UNAVAILABLE, request.what(), "the answer ended inside an event", null));
            } else {
                end(null);
            }
        });
        deliver(new WatchEvent.Opened<>());
    }

    private void chunk(Buffer chunk) {
        boolean fits = lines.accept(chunk.getBytes(), (bytes, offset, length) -> {
            if (over.get()) {
                return;
            }
            WatchEvent<T> event = decoder.decode(bytes, offset, length);
            if (event instanceof WatchEvent.Ended<T> ended) {
                end(ended.failure());
            } else {
                deliver(event);
            }
        });
        if (!fits) {
            end(ApiServerException.withoutAnswer(
                    FailureReason.UNREADABLE,
                    request.what(),
                    "an event is longer than " + LONGEST_LINE + " bytes",
                    null));
        }
    }

    private void refuse(HttpClientResponse response, Credentials credentials, URI uri) {
        Buffer body = Buffer.buffer();
        response.handler(chunk -> {
            if (body.length() + chunk.length() <= LONGEST_ERROR) {
                body.appendBuffer(chunk);
            }
        });
        response.exceptionHandler(this::endBroken);
        response.endHandler(end -> {
            int code = response.statusCode();
            ErrorAnswer answer = new ErrorAnswer(code, response.getHeader("Retry-After"), body.getBytes());
            ApiServerException failure = answer.toException(request.what(), timekeeper.wallTime());
            if (code == 401) {
                timekeeper.workers().execute(() -> {
                    renew(credentials, uri);
                    Context loop = context;
                    if (loop != null) {
                        post(loop, () -> end(failure));
                    }
                });
            } else {
                end(failure);
            }
        });
    }

    private void renew(Credentials credentials, URI uri) {
        try {
            credentials.refused(uri);
        } catch (RuntimeException e) {
            log.warn("{}: the credentials could not be renewed", request.what(), e);
        }
    }

    private void endBroken(Throwable cause) {
        end(NoAnswer.because(request.what(), server, cause));
    }

    private void endLate() {
        end(ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, request.what(), "no answer from " + server + " within " + OPENS_WITHIN, null));
    }

    private void end(@Nullable ApiServerException failure) {
        if (over.compareAndSet(false, true)) {
            whenOver.run();
            reset();
            consume(new WatchEvent.Ended<>(failure));
        }
    }

    private void deliver(WatchEvent<T> event) {
        if (!over.get()) {
            consume(event);
        }
    }

    private void consume(WatchEvent<T> event) {
        try {
            events.accept(event);
        } catch (RuntimeException e) {
            log.error("{}: a consumer of events failed; this is a bug in it", request.what(), e);
        }
    }

    private void reset() {
        cancelOpening();
        if (sent != null) {
            // of HTTP/1.1 this closes the connection
            sent.reset();
        }
    }

    private void cancelOpening() {
        if (opening != null) {
            opening.cancel();
        }
    }

    private static void post(Context loop, Runnable task) {
        try {
            loop.runOnContext(posted -> task.run());
        } catch (RejectedExecutionException closing) {
            log.debug("the event loop is gone and the connection with it", closing);
        }
    }

    private static RequestOptions options(URI uri, Map<String, List<String>> headers) {
        RequestOptions options =
                new RequestOptions().setAbsoluteURI(uri.toString()).setMethod(HttpMethod.GET);
        headers.forEach((name, values) -> values.forEach(value -> options.addHeader(name, value)));
        return options;
    }

    /** Looked up by the JVM, as for requests, rather than by Vert.x's own resolver, which knows other rules. */
    private static SocketAddress addressOf(URI uri) throws UnknownHostException {
        int standard = "https".equals(uri.getScheme()) ? 443 : 80;
        int port = uri.getPort() < 0 ? standard : uri.getPort();
        InetAddress address = InetAddress.getByName(uri.getHost());
        return SocketAddress.inetSocketAddress(new InetSocketAddress(address, port));
    }
}
