package dev.podcache;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/** Runs what it is given at once while it is open, and otherwise when it opens. Thread-safe. */
final class Gate implements Executor {

    private final Queue<Runnable> held = new ConcurrentLinkedQueue<>();
    private volatile boolean open = true;

    @Override
    public void execute(Runnable command) {
        held.add(command);
        if (open) {
            runHeld();
        }
    }

    void shut() {
        open = false;
    }

    void open() {
        open = true;
        runHeld();
    }

    private void runHeld() {
        for (Runnable next = held.poll(); next != null; next = held.poll()) {
            next.run();
        }
    }
}
