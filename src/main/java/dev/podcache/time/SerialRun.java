package dev.podcache.time;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs one task again and again, one run at a time, whenever it is requested. A request during a run has another run follow, so
 * any number of requests before a run cause only that run, and none is lost: whatever the task throws, also an Error where memory
 * is missing, the runs go on. What one run writes, the next one sees. Thread-safe; no lock is held during a run.
 */
public final class SerialRun {

    /*
     * running | again | state                  | leaves by
     * false   | false | no run                 | request: submitted
     * true    | any   | a run is submitted     | its begin: again = false; an executor that throws: no run
     * true    | false | the task runs          | request: again = true; its end, whatever it threw: no run
     * true    | true  | and another follows    | its end, whatever it threw: submitted
     *
     * Nothing is allocated between a change of the state and what it promises.
     */

    private final Runnable task;
    private final @Nullable Executor threads; // null for the thread of the request
    private final Runnable run = this::runOnThread;

    private boolean running; // guarded by this
    private boolean again; // guarded by this

    private SerialRun(@Nullable Executor threads, Runnable task) {
        this.threads = threads;
        this.task = task;
    }

    /**
     * Returns an instance whose runs are tasks of {@code threads}, each of them a new one, so that they share the threads with other
     * tasks.
     *
     * @param task what it throws is thrown to {@code threads}
     */
    public static SerialRun on(Executor threads, Runnable task) {
        return new SerialRun(threads, task);
    }

    /**
     * Returns an instance that runs on the thread that requests a run. A request during a run returns at once: the thread that runs
     * makes the next run too.
     *
     * @param task what it throws is thrown to the caller of {@link #request}
     */
    public static SerialRun onCaller(Runnable task) {
        return new SerialRun(null, task);
    }

    /** Requests a run that begins after this call. If the executor throws, this does too, and there is no run until the next request. */
    public void request() {
        synchronized (this) {
            again = running;
            if (running) {
                return;
            }
            running = true;
        }
        begin();
    }

    /** Requests a run, as {@link #request} does, unless there is one already. Returns whether there was none. */
    public boolean requestUnlessRunning() {
        synchronized (this) {
            if (running) {
                return false;
            }
            running = true;
        }
        begin();
        return true;
    }

    private void begin() {
        if (threads == null) {
            runOnCaller();
            return;
        }
        boolean submitted = false;
        try {
            threads.execute(run);
            submitted = true;
        } finally {
            if (!submitted) {
                notSubmitted();
            }
        }
    }

    private synchronized void notSubmitted() {
        running = false;
        again = false;
    }

    private void runOnThread() {
        begun();
        try {
            task.run();
        } finally {
            if (anotherFollows()) {
                begin();
            }
        }
    }

    /** The requests until now are those of this run. */
    private synchronized void begun() {
        again = false;
    }

    private void runOnCaller() {
        boolean over = false;
        try {
            do {
                task.run();
            } while (anotherFollows());
            over = true;
        } finally {
            if (!over && anotherFollows()) {
                runOnCaller();
            }
        }
    }

    private synchronized boolean anotherFollows() {
        running = again;
        again = false;
        return running;
    }
}
