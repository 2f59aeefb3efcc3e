package dev.podcache.controlplane.cluster;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Limits how many requests of a controller are in flight, as the number of workers does in kube-controller-manager.
 * Requests above the limit wait in order. Used by tasks of one {@link ControllerLoop} only.
 */
public final class RequestSlots {

    private final ControllerLoop loop;
    private final int limit;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int used;

    /**
     * Creates slots that are free.
     *
     * @param limit at least 1
     */
    public RequestSlots(ControllerLoop loop, int limit) {
        this.loop = loop;
        this.limit = limit;
    }

    /**
     * Sends a request when a slot is free, at once if one is. The slot is free again when the answer is complete.
     *
     * @param request sends the request; if it throws, the answer fails with the exception
     */
    public <T> CompletableFuture<T> send(Supplier<CompletableFuture<T>> request) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        waiting.add(() -> begin(request, answer));
        sendWaiting();
        return answer;
    }

    private void sendWaiting() {
        while (used < limit && !waiting.isEmpty()) {
            used++;
            waiting.remove().run();
        }
    }

    private <T> void begin(Supplier<CompletableFuture<T>> request, CompletableFuture<T> answer) {
        loop.whenDone(started(request), (value, failure) -> {
            used--;
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(failure);
            }
            sendWaiting();
        });
    }

    private static <T> CompletableFuture<T> started(Supplier<CompletableFuture<T>> request) {
        try {
            return request.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
