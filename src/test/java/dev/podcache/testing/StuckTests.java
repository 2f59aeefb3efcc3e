package dev.podcache.testing;

import java.io.PrintStream;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Ends this JVM when a test is stuck. JUnit and {@link PropertyTimeLimit} interrupt a test at its time limit, but {@code
 * CompletableFuture.join()} ignores that, and set-up and tear-down have no limit. Without this class such a test would keep its JVM
 * until Maven ends all JVMs, and nothing would say which test it was.
 *
 * <p>A test is stuck a minute after its time limit. What runs between tests is stuck after the default limit and a minute. Then the
 * stacks of all threads are printed on the console, and Maven names the class. Does nothing under a debugger, as JUnit's limits.
 *
 * <p>JUnit finds this class through {@code META-INF/services}.
 */
public final class StuckTests implements TestExecutionListener {

    /*
     * The lock guards the fields that are not final. The watcher waits on it for a second at a time, so that begin(), which runs
     * before and after each test, need not wake it.
     */

    /** What {@code junit-platform.properties}, or the profile nightly, gives a test that has no {@code @Timeout}. */
    private static final Duration DEFAULT_LIMIT = Effort.NIGHTLY ? Duration.ofHours(2) : Duration.ofMinutes(5);

    private static final Duration GRACE = Duration.ofMinutes(1);
    private static final long LOOK_EVERY_MILLIS = 1000;
    private static final long PATIENCE_WITH_HOOKS_MILLIS = 20_000;

    private final Duration grace;
    private final PrintStream console;
    private final Runnable end;
    private final boolean debugged;
    private @Nullable Thread watcher; // null before and after the tests
    private String running = "";
    private long deadline; // System.nanoTime()

    /** Created by JUnit through {@code ServiceLoader}. */
    public StuckTests() {
        this(GRACE, TestLogs.console(), StuckTests::endJvm);
    }

    /**
     * Creates one that watches from {@link #testPlanExecutionStarted} on.
     *
     * @param grace how long a test may go on after its limit
     * @param end called once, on a thread of its own, for a stuck test
     */
    StuckTests(Duration grace, PrintStream console, Runnable end) {
        this.grace = grace;
        this.console = console;
        this.end = end;
        this.debugged = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .anyMatch(argument -> argument.startsWith("-agentlib:jdwp") || argument.startsWith("-Xrunjdwp"));
    }

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan plan) {
        if (debugged) {
            return;
        }
        begin("the start of the tests", DEFAULT_LIMIT);
        Thread thread = new Thread(this::watch, "junit-stuck-tests");
        thread.setDaemon(true);
        watcher = thread;
        thread.start();
    }

    @Override
    public synchronized void testPlanExecutionFinished(TestPlan plan) {
        watcher = null;
        notifyAll();
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        begin(nameOf(test), limitOf(test));
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        begin("what follows " + nameOf(test), DEFAULT_LIMIT);
    }

    private synchronized void begin(String what, Duration limit) {
        running = what;
        deadline = System.nanoTime() + limit.plus(grace).toNanos();
    }

    private void watch() {
        String stuck = awaitStuck();
        if (stuck == null) {
            return;
        }
        try {
            console.println(stuck + " did not end at its time limit. This JVM ends now. Its threads:");
            for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
                console.println(described(thread));
            }
            console.flush();
        } finally {
            end.run();
        }
    }

    /** Returns what is stuck, or null when the tests are over. */
    private synchronized @Nullable String awaitStuck() {
        Thread self = Thread.currentThread();
        while (watcher == self) {
            if (System.nanoTime() - deadline >= 0) {
                return running;
            }
            try {
                wait(LOOK_EVERY_MILLIS);
            } catch (InterruptedException e) {
                // nobody's to end the watch
            }
        }
        return null;
    }

    /** Runs the shutdown hooks, which end servers and send to Maven what was printed. They may be stuck too. */
    private static void endJvm() {
        Thread exit = new Thread(() -> System.exit(1), "junit-stuck-tests-exit");
        exit.start();
        try {
            exit.join(PATIENCE_WITH_HOOKS_MILLIS);
        } catch (InterruptedException e) {
            // then at once
        }
        Runtime.getRuntime().halt(1);
    }

    private static String described(ThreadInfo thread) {
        StringBuilder text = new StringBuilder()
                .append('"')
                .append(thread.getThreadName())
                .append("\" ")
                .append(thread.getThreadState());
        LockInfo lock = thread.getLockInfo();
        if (lock != null) {
            text.append(" on ").append(lock);
        }
        if (thread.getLockOwnerName() != null) {
            text.append(" of \"").append(thread.getLockOwnerName()).append('"');
        }
        for (StackTraceElement frame : thread.getStackTrace()) {
            text.append("\n\tat ").append(frame);
        }
        return text.toString();
    }

    private static String nameOf(TestIdentifier test) {
        return test.getSource().orElse(null) instanceof MethodSource source
                ? source.getClassName() + "." + source.getMethodName() + " " + test.getDisplayName()
                : test.getDisplayName();
    }

    private static Duration limitOf(TestIdentifier test) {
        if (!(test.getSource().orElse(null) instanceof MethodSource source)) {
            return DEFAULT_LIMIT;
        }
        if (test.getUniqueId().contains("[engine:jqwik]")) {
            return PropertyTimeLimit.configured();
        }
        Method method = source.getJavaMethod();
        Optional<Timeout> ofMethod = AnnotationSupport.findAnnotation(method, Timeout.class);
        return ofMethod.or(() -> AnnotationSupport.findAnnotation(source.getJavaClass(), Timeout.class))
                .map(timeout -> Duration.of(timeout.value(), timeout.unit().toChronoUnit()))
                .orElse(DEFAULT_LIMIT);
    }
}
