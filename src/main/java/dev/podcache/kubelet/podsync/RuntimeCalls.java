package dev.podcache.kubelet.podsync;

import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.function.BiConsumer;

/**
 * Makes the calls of the runtime about one pod. While a call takes long, the syncs of other pods go on. A call that does
 * not return in time is reported, once. After {@link #close}, no call begins. Thread-safe.
 */
final class RuntimeCalls implements AutoCloseable {

    /** How long a call may take, apart from grace periods, before it counts as hanging. */
    static final Duration HANGS_AFTER = Duration.ofSeconds(30);

    private final TaskThreads threads;
    private final Timekeeper timekeeper;
    private final BiConsumer<Pod, String> hangs;
    private volatile boolean closed;

    /**
     * Makes an instance.
     *
     * @param hangs receives the pod and a text such as {@code start of container web has not returned for 30 s}; called
     *     on a thread that may block, while the call continues
     */
    RuntimeCalls(TaskThreads threads, Timekeeper timekeeper, BiConsumer<Pod, String> hangs) {
        this.threads = threads;
        this.timekeeper = timekeeper;
        this.hangs = hangs;
    }

    /** A call of the runtime. */
    interface RuntimeCall<R> {
        R make() throws IOException, InterruptedException;
    }

    /** A call of the runtime that returns nothing. */
    interface RuntimeAction {
        void run() throws IOException, InterruptedException;
    }

    /** A call that ends only by its result or an interrupt. */
    interface HookCall<R> {
        R make() throws InterruptedException;
    }

    <R> R call(Pod pod, String what, RuntimeCall<R> call) throws IOException, InterruptedException {
        return call(pod, what, Duration.ZERO, call);
    }

    void run(Pod pod, String what, RuntimeAction action) throws IOException, InterruptedException {
        run(pod, what, Duration.ZERO, action);
    }

    /**
     * Makes a call.
     *
     * @param allowed how long the call may take in addition
     */
    void run(Pod pod, String what, Duration allowed, RuntimeAction action) throws IOException, InterruptedException {
        call(pod, what, allowed, () -> {
            action.run();
            return pod;
        });
    }

    /** Makes a call that may take as long as it needs, such as a hook. */
    <R> R unlimited(HookCall<R> call) throws InterruptedException {
        throwIfClosed();
        Timekeeper.Scheduled mark = threads.beginCall();
        try {
            return call.make();
        } finally {
            mark.cancel();
        }
    }

    private <R> R call(Pod pod, String what, Duration allowed, RuntimeCall<R> call)
            throws IOException, InterruptedException {
        // the interrupt may have come between two calls
        PodContainers.throwIfInterrupted();
        throwIfClosed();
        Duration deadline = allowed.plus(HANGS_AFTER);
        Timekeeper.Scheduled timer = timekeeper.schedule(
                deadline,
                () -> timekeeper
                        .blocking()
                        .execute(() ->
                                hangs.accept(pod, what + " has not returned for " + deadline.toSeconds() + " s")));
        Timekeeper.Scheduled mark = threads.beginCall();
        try {
            return call.make();
        } catch (IOException e) {
            // the runtime may have been interrupted in a write to a file
            PodContainers.throwIfInterrupted();
            throwIfClosed();
            throw e;
        } catch (RuntimeException | Error e) {
            // close() interrupts calls, and a runtime may wrap that
            throwIfClosed();
            throw e;
        } finally {
            mark.cancel();
            timer.cancel();
        }
    }

    /** Ends the sync if the agent is closed. To be called before each of the calls that one {@link #run} combines. */
    void throwIfClosed() throws InterruptedException {
        if (closed) {
            throw new InterruptedException("the agent is closed");
        }
    }

    /** Lets no further call begin. Calls that run continue. Idempotent. */
    @Override
    public void close() {
        closed = true;
    }
}
