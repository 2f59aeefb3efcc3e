package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Collects the body of one answer, up to a bound, and has it decoded on a worker. */
final class BodyReader<R> implements ResponseReader {

    private final CompletableFuture<R> result = new CompletableFuture<>();
    private final String what;
    private final int longest;
    private final ByteBudget budget;
    private final Function<byte[], R> decode;
    private final Executor workers;
    private Consumer<@Nullable ApiServerException> whenEnded = failure -> {};
    private @Nullable ByteArrayOutputStream body = new ByteArrayOutputStream(0); // guarded by this; null once over

    /**
     * A reader of one answer.
     *
     * @param what was asked, for messages
     * @param longest how many bytes the body may have
     */
    BodyReader(String what, int longest, ByteBudget budget, Function<byte[], R> decode, Executor workers) {
        this.what = what;
        this.longest = longest;
        this.budget = budget;
        this.decode = decode;
        this.workers = workers;
    }

    /** Has {@code action} told how the exchange ended, before the answer is decoded. To be called before it is sent. */
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
                    FailureReason.UNREADABLE, what, "the answer is longer than " + longest + " bytes", null);
        }
        if (!budget.take(bytes.length)) {
            return ApiServerException.withoutAnswer(
                    FailureReason.UNAVAILABLE, what, "too many bytes of answers come at once", null);
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
            // of whatever kind: nobody else is left to end the wait
            result.completeExceptionally(unreadable);
        }
    }
}
