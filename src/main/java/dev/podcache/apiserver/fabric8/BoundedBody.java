package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.stream.AnswerBody;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The body of an answer that comes over fabric8's client, which by itself would collect one without end; a longer one
 * than allowed is broken off. Fed by one thread at a time, and read when it is {@linkplain #complete complete}.
 */
final class BoundedBody implements AsyncBody.Consumer<List<ByteBuffer>> {

    private final AnswerBody body;
    private boolean tooLong;

    BoundedBody(int longest) {
        this.body = new AnswerBody(longest);
    }

    @Override
    public void consume(List<ByteBuffer> chunks, AsyncBody source) {
        for (ByteBuffer chunk : chunks) {
            if (tooLong || !body.add(chunk)) {
                tooLong = true;
                source.cancel();
                return;
            }
        }
        source.consume();
    }

    /** Has the body of {@code response} read to its end, or to the bound. */
    CompletableFuture<HttpResponse<AsyncBody>> complete(HttpResponse<AsyncBody> response) {
        CompletableFuture<HttpResponse<AsyncBody>> complete = new CompletableFuture<>();
        response.body().done().whenComplete((done, thrown) -> {
            if (thrown == null || tooLong) {
                complete.complete(response);
            } else {
                complete.completeExceptionally(thrown);
            }
        });
        response.body().consume();
        return complete;
    }

    /**
     * What came.
     *
     * @param what was asked, for the message
     * @throws ApiServerException {@link dev.podcache.object.FailureReason#UNREADABLE} if it was too long
     */
    byte[] bytes(String what) {
        if (tooLong) {
            throw body.tooLong(what);
        }
        return body.bytes();
    }
}
