package dev.podcache.cli.output;

import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Prints lines in the order in which they came, one at a time, on the threads of an executor: so a reader of the output
 * who pauses keeps nobody waiting who has something to tell. Thread-safe.
 */
final class LineWriter {

    /*
     * One task at a time prints, and ends when there is nothing left. The lock covers what
     * waits; nothing is printed under it.
     *
     * Once the queue was full, lines are dropped until the reader has caught up with all of it: so there is one gap,
     * and the line that tells of it stands where it is.
     */

    private final PrintStream out;
    private final Executor executor;
    private final int mostWaiting;
    private final LongFunction<String> gap;
    private final CompletableFuture<Void> broken = new CompletableFuture<>();

    private final Queue<String> waiting = new ArrayDeque<>(); // guarded by this
    private long dropped; // guarded by this; since the queue was full
    private boolean printing; // guarded by this; whether a task prints, or is about to
    private boolean closed; // guarded by this

    /**
     * A writer that has nothing to print yet.
     *
     * @param executor prints; the caller's thread for one that waits until each line is printed
     * @param mostWaiting from how many lines on further ones are dropped
     * @param gap the line that tells how many were dropped
     */
    LineWriter(PrintStream out, Executor executor, int mostWaiting, LongFunction<String> gap) {
        this.out = out;
        this.executor = executor;
        this.mostWaiting = mostWaiting;
        this.gap = gap;
    }

    /**
     * Prints a line soon, or drops it. Waits for nothing but what the executor waits for. Without effect once closed.
     */
    void print(String line) {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (dropped > 0 || waiting.size() >= mostWaiting) {
                dropped++;
                return;
            }
            waiting.add(line);
            if (printing) {
                return;
            }
            printing = true;
        }
        executor.execute(this::printWaiting);
    }

    /**
     * Waits until everything was printed, or nobody reads any more; at once if the thread is interrupted, and stays so.
     */
    synchronized void drain() {
        try {
            while (printing) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * {@linkplain #drain() Waits} for what is to be printed, and takes nothing more; the
     * executor is not used any more then.
     */
    void close() {
        drain();
        synchronized (this) {
            closed = true;
        }
        // of a line that came in between
        drain();
    }

    /** Completes when the output takes no more. */
    CompletableFuture<Void> broken() {
        return broken;
    }

    private void printWaiting() {
        for (String line = next(); line != null; line = next()) {
            out.println(line);
            if (out.checkError()) {
                broken.complete(null);
            }
        }
    }

    private synchronized @Nullable String next() {
        if (broken.isDone()) {
            waiting.clear();
            dropped = 0;
        }
        String line = waiting.poll();
        if (line == null && dropped > 0) {
            line = gap.apply(dropped);
            dropped = 0;
        }
        if (line == null) {
            printing = false;
            notifyAll();
        }
        return line;
    }
}
