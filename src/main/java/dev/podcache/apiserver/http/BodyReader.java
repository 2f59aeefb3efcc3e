package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Collects the body of one answer, up to a maximum size, and decodes it on a worker thread. */
final class BodyReader<R> implements ResponseReader {

    private final CompletableFuture<R> result = new CompletableFuture<>();
    private final String request;
    private final int longest;
    private final ByteBudget budget;
    private final Function<byte[], R> decode;
    private final Executor workers;
    private Consumer<@Nullable ApiServerException> whenEnded = failure -> {};
    private @Nullable ByteArrayOutputStream body = new ByteArrayOutputStream(0); // guarded by this; null once over

    /**
     * Creates a reader of one answer.
     *
     * @param request names the request in messages
     * @param longest the maximum size of the body, in bytes
     */
    BodyReader(String request, int longest, ByteBudget budget, Function<byte[], R> decode, Executor workers) {
        this.request = request;
        this.longest = longest;
        this.budget = budget;
        this.decode = decode;
        this.workers = workers;
    }

    /** Sets the action that gets the failure, or null, before the answer is decoded. Must be called before sending. */
    void whenEnded(Consumer<@Nullable ApiServerException> action) {
        whenEnded = action;
    }

    CompletableFuture<R> result() {
        return result;
    }

    @Override
    public void chunk(Exchange exchange, byte[] bytes) {
        ApiServerException tooMuch = add(bytes);
        if (tooMuch != null) {
            exchange.end(tooMuch);
        }
    }

    private synchronized @Nullable ApiServerException add(byte[] bytes) {
        if (body == null) {
            return null;
        }
        if (bytes.length > longest - body.size()) {
            return ApiServerException.withoutAnswer(
                    FailureReason.UNREADABLE, request, "the answer is longer than " + longest + " bytes", null);
        }
        if (!budget.take(bytes.length)) {
            return ApiServerException.withoutAnswer(
                    FailureReason.UNAVAILABLE, request, "the memory for incomplete answers is used up", null);
        }
        try {
            body.writeBytes(bytes);
        } catch (OutOfMemoryError e) {
            budget.giveBack(bytes.length);
            throw e;
        }
        return null;
    }

    @Override
    public void ended(@Nullable ApiServerException failure) {
        byte[] bytes = release();
        whenEnded.accept(failure);
        if (failure != null) {
            result.completeExceptionally(failure);
        } else {
            workers.execute(() -> decode(bytes));
        }
    }

    private synchronized byte[] release() {
        byte[] bytes = body == null ? new byte[0] : body.toByteArray();
        body = null;
        budget.giveBack(bytes.length);
        return bytes;
    }

    private void decode(byte[] bytes) {
        try {
            result.complete(decode.apply(bytes));
        } catch (Throwable unreadable) {
            // catches everything, because nothing else would complete the future
            result.completeExceptionally(unreadable);
        }
    }
}
