package dev.podcache.reflector;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of one {@link ReflectorLoop} one at a time, in the order of arrival. A step runs on the thread that
 * submits it, or on the thread that is running another step. So a step that submits another never contains it, and no
 * thread waits. Thread-safe.
 */
final class Steps {

    private final Consumer<Throwable> thrown;
    private boolean running; // guarded by this
    private @Nullable Queue<Runnable> waiting; // guarded by this; made on demand: there are thousands of instances

    /**
     * Makes an instance without steps.
     *
     * @param thrown receives the exception of a step, before the next step runs
     */
    Steps(Consumer<Throwable> thrown) {
        this.thrown = thrown;
    }

    void run(Runnable step) {
        synchronized (this) {
            if (running) {
                if (waiting == null) {
                    waiting = new ArrayDeque<>(2);
                }
                waiting.add(step);
                return;
            }
            running = true;
        }
        for (Runnable next = step; next != null; next = next()) {
            try {
                next.run();
            } catch (RuntimeException | Error e) {
                report(e);
            }
        }
    }

    /** Never throws: no further step would ever run. */
    private void report(Throwable failure) {
        try {
            thrown.accept(failure);
        } catch (RuntimeException | Error unreported) {
            // no memory, or a log that fails: the next step has a chance
        }
    }

    private synchronized @Nullable Runnable next() {
        Runnable next = waiting == null ? null : waiting.poll();
        running = next != null;
        return next;
    }
}
