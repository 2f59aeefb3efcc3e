package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
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
    private final AnswerBody body;
    private final Function<byte[], R> decode;
    private final Executor workers;
    private final Consumer<Seat> keeper;

    /**
     * A read.
     *
     * @param body an empty one, with the bound
     * @param keeper given the seat when the body is there
     */
    BodyRead(AnswerBody body, Function<byte[], R> decode, Executor workers, Consumer<Seat> keeper) {
        this.body = body;
        this.decode = decode;
        this.workers = workers;
        this.keeper = keeper;
    }

    CompletableFuture<Optional<R>> result() {
        return result;
    }

    @Override
    public void begins(Exchange exchange, HttpClientResponse response) {
        response.handler(chunk -> {
            if (!body.add(chunk)) {
                exchange.end(body.tooLong(exchange.toString()));
            }
        });
        response.endHandler(complete -> {
            Seat seat = exchange.endKeepingSeat();
            if (seat != null) {
                keeper.accept(seat);
                workers.execute(() -> decode(body.bytes()));
            }
        });
    }

    private void decode(byte[] body) {
        try {
            result.complete(Optional.of(decode.apply(body)));
        } catch (Throwable unreadable) {
            // of whatever kind: nobody else is left to end the wait
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
