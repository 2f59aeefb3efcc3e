package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Collects the body of one answer, up to a maximum size, and decodes it on a worker thread. Thread-safe, because a timeout
 * may end it while a chunk arrives.
 */
final class BodyReader<R> implements ResponseReader {

    private final CompletableFuture<R> result = new CompletableFuture<>();
    private final String request;
    private final int longest;
    private final ReceiveBudget budget;
    private final Function<byte[], R> decode;
    private final Executor workers;
    private Runnable whenSent = () -> {};
    private Consumer<@Nullable ApiServerException> whenEnded = failure -> {};
    private @Nullable ByteArrayOutputStream body = new ByteArrayOutputStream(0); // guarded by this; null once over
    private ReceiveBudget.@Nullable Share share; // guarded by this; null before the first part

    /**
     * Creates a reader of one answer.
     *
     * @param request names the request in messages
     * @param longest the maximum size of the body, in bytes
     * @param budget counts the body until it is decoded
     */
    BodyReader(String request, int longest, ReceiveBudget budget, Function<byte[], R> decode, Executor workers) {
        this.request = request;
        this.longest = longest;
        this.budget = budget;
        this.decode = decode;
        this.workers = workers;
    }

    /** Sets the action that runs when the request was {@linkplain #sent}. Must be called before sending. */
    void whenSent(Runnable action) {
        whenSent = action;
    }

    /** Sets the action that gets the failure, or null, before the answer is decoded. Must be called before sending. */
    void whenEnded(Consumer<@Nullable ApiServerException> action) {
        whenEnded = action;
    }

    CompletableFuture<R> result() {
        return result;
    }

    @Override
    public void sent() {
        whenSent.run();
    }

    @Override
    public boolean isLarge() {
        return longest > ApiConnections.LONGEST_OBJECT;
    }

    @Override
    public boolean chunk(Exchange exchange, byte[] bytes) {
        ReceiveBudget.Share counted = share(exchange);
        int size = size();
        if (bytes.length > longest - size) {
            exchange.end(ApiServerException.withoutAnswer(
                    FailureReason.UNREADABLE,
                    request,
                    "the answer is longer than " + longest + " bytes",
                    new ApiConnections.AnswerTooLong()));
            return true;
        }
        ReceiveBudget.Room room = counted.hold(size + bytes.length);
        if (room == ReceiveBudget.Room.NONE) {
            exchange.end(exchange.noMemory());
            return true;
        }
        add(bytes);
        return room == ReceiveBudget.Room.MORE;
    }

    private synchronized ReceiveBudget.Share share(Exchange exchange) {
        if (share == null) {
            share = budget.share(exchange);
            if (body == null) {
                share.end();
            }
        }
        return share;
    }

    private synchronized int size() {
        return body == null ? 0 : body.size();
    }

    private synchronized void add(byte[] bytes) {
        if (body != null) {
            body.writeBytes(bytes);
        }
    }

    @Override
    public void ended(@Nullable ApiServerException failure) {
        HeldBody received = take();
        Throwable cause = failure;
        try {
            whenEnded.accept(failure);
            ByteArrayOutputStream whole = received.body;
            if (failure == null && whole != null) {
                received.complete();
                workers.execute(() -> decode(whole, received));
                return;
            }
        } catch (RuntimeException | Error e) {
            // catches everything, because nothing else would complete the future
            cause = e;
        }
        received.end();
        result.completeExceptionally(cause == null ? new IllegalStateException("the answer ended before") : cause);
    }

    /** What was received, and what it counts. */
    private record HeldBody(@Nullable ByteArrayOutputStream body, ReceiveBudget.@Nullable Share share) {

        void complete() {
            if (share != null) {
                share.complete();
            }
        }

        void end() {
            if (share != null) {
                share.end();
            }
        }
    }

    /** Takes the body, and nothing is copied: memory may be what has failed. It is null if that was done. */
    private synchronized HeldBody take() {
        HeldBody received = new HeldBody(body, share);
        body = null;
        return received;
    }

    private void decode(ByteArrayOutputStream received, HeldBody counted) {
        try {
            result.complete(decode.apply(received.toByteArray()));
        } catch (Throwable unreadable) {
            // catches everything, because nothing else would complete the future
            result.completeExceptionally(unreadable);
        } finally {
            counted.end();
        }
    }
}
