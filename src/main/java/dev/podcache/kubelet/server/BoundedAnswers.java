package dev.podcache.kubelet.server;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes a limited number of answers at a time, on threads that may block. Thread-safe. */
final class BoundedAnswers {

    private static final Logger log = LoggerFactory.getLogger(BoundedAnswers.class);

    /** So that a runtime that hangs does not use up all threads of the process. */
    static final int MOST_ANSWERS = 64;

    private final TaskThreads threads;
    private final Function<Throwable, String> explain;
    private final Semaphore answers = new Semaphore(MOST_ANSWERS);

    /** Makes the answer to a request. May block, and may throw {@link RefusedException}. */
    interface Answering {
        KubeletResponse answer(KubeletRequest request) throws IOException;
    }

    /** Creates answers that tell the client the failure. */
    BoundedAnswers(TaskThreads threads) {
        this(threads, failure -> "the node could not answer: " + failure);
    }

    /** @param explain returns what the client is told of a failure, which is logged */
    BoundedAnswers(TaskThreads threads, Function<Throwable, String> explain) {
        this.threads = threads;
        this.explain = explain;
    }

    /** Returns the answer. Returns at once and never throws; the future does not fail. */
    CompletableFuture<KubeletResponse> answer(KubeletRequest request, Answering answering) {
        CompletableFuture<KubeletResponse> answer = new CompletableFuture<>();
        if (!answers.tryAcquire()) {
            answer.complete(KubeletResponse.text(
                    503,
                    MOST_ANSWERS + " requests are being answered already; what they wait for may hang; try again"
                            + " later"));
            return answer;
        }
        threads.execute(() -> {
            try {
                answer.complete(answered(request, answering));
            } catch (Throwable failure) {
                answer.complete(failed(request, failure));
            } finally {
                answers.release();
            }
        });
        return answer;
    }

    private KubeletResponse answered(KubeletRequest request, Answering answering) throws IOException {
        Timekeeper.Scheduled mark = threads.beginCall();
        try {
            return answering.answer(request);
        } finally {
            mark.cancel();
        }
    }

    /** Returns what a request is answered that has failed. */
    KubeletResponse failed(KubeletRequest request, Throwable thrown) {
        Throwable failure = ApiServerException.causeOf(thrown);
        if (failure instanceof RefusedException refusal) {
            return KubeletResponse.text(refusal.code(), refusal.reason());
        }
        log.error("{} failed; answered 500", request, failure);
        return KubeletResponse.text(500, explain.apply(failure));
    }
}
