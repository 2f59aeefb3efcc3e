package dev.podcache.chaos;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A thread that repeats a step until it is closed, or the step throws, which is a finding. */
final class Actor implements AutoCloseable {

    private static final Duration ENDS_WITHIN = Duration.ofSeconds(70);

    private final ActorStep step;
    private final Violations violations;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;

    /** What is repeated. */
    @FunctionalInterface
    interface ActorStep {
        /** Does something and answers how long to pause. */
        Duration take() throws Exception;
    }

    Actor(String name, Violations violations, ActorStep step) {
        this.step = step;
        this.violations = violations;
        thread = new Thread(this::run, "chaos-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            Duration pause = Duration.ZERO;
            while (!stopped.await(pause.toNanos(), TimeUnit.NANOSECONDS)) {
                pause = step.take();
            }
        } catch (Throwable e) {
            violations.broke(Thread.currentThread().getName(), e);
        }
    }

    /** Waits until the step that is under way has ended. */
    @Override
    public void close() {
        stopped.countDown();
        try {
            TimeUnit.NANOSECONDS.timedJoin(thread, ENDS_WITHIN.toNanos());
            if (thread.isAlive()) {
                violations.add(Shape.RUN_FAILED, thread.getName() + " hangs at " + List.of(thread.getStackTrace()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
