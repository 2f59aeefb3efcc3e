package dev.podcache.testing;

import java.util.concurrent.Executor;

/**
 * Runs each task on a daemon thread of its own. For tasks that block: the common pool, which
 * {@code CompletableFuture.supplyAsync} uses otherwise, has one thread on a machine with two cores.
 */
public enum NewThread implements Executor {
    /** The only instance, which has no state. */
    EACH;

    @Override
    public void execute(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
    }
}
