package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Collects the body of one answer and has it decoded on a worker. */
final class BodyRead<R> implements Exchange.Answer {

    private final CompletableFuture<Optional<R>> result = new CompletableFuture<>();
    private final Function<byte[], R> decode;
    private final Executor workers;
    private final Consumer<Seat> keeper;

    /**
     * A read.
     *
     * @param keeper given the seat when the body is there
     */
    BodyRead(Function<byte[], R> decode, Executor workers, Consumer<Seat> keeper) {
        this.decode = decode;
        this.workers = workers;
        this.keeper = keeper;
    }

    CompletableFuture<Optional<R>> result() {
        return result;
    }

    @Override
    public void begins(Exchange exchange, HttpClientResponse response) {
        Buffer body = Buffer.buffer();
        response.handler(body::appendBuffer);
        response.endHandler(complete -> {
            Seat seat = exchange.endKeepingSeat();
            if (seat != null) {
                keeper.accept(seat);
                workers.execute(() -> decode(body.getBytes()));
            }
        });
    }

    private void decode(byte[] body) {
        try {
            result.complete(Optional.of(decode.apply(body)));
        } catch (RuntimeException unreadable) {
            result.completeExceptionally(unreadable);
        }
    }

    @Override
    public void ended(@Nullable ApiServerException failure) {
        if (failure == null) {
            result.complete(Optional.empty());
        } else {
            result.completeExceptionally(failure);
        }
    }
}
