package dev.podcache.testing;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.AroundTryHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryExecutor;
import net.jqwik.api.lifecycle.TryLifecycleContext;
import org.jspecify.annotations.Nullable;

/**
 * Fails a jqwik property that exceeds the time limit in the system property {@code podcache.property.limit}, by default
 * five minutes. The time limit of JUnit does not apply to properties. At the limit, prints the seed, the arguments and
 * the stack of the running try, and interrupts its thread. A try that ignores the interrupt runs until its JVM ends.
 *
 * <p>Also ends the search for a smaller failing example after ten seconds. The limit of jqwik would leave a thread behind
 * that tries on, beside the tests that follow; so {@code junit-platform.properties} switches it off.
 */
public class PropertyTimeLimit implements AroundPropertyHook, AroundTryHook {

    private static final String PROPERTY = "podcache.property.limit";
    private static final Duration SHRINKING_LIMIT = Duration.ofSeconds(10);

    private final Duration limit;
    private final Duration shrinkingLimit;
    private final PrintStream console;
    private @Nullable PropertyRun run; // of the current property; properties run one at a time

    /** Created by jqwik through {@code ServiceLoader}. */
    public PropertyTimeLimit() {
        this(configured(), SHRINKING_LIMIT, TestLogs.console());
    }

    /** Returns the time limit of a property in this JVM. */
    static Duration configured() {
        return Duration.parse(System.getProperty(PROPERTY, "PT5M"));
    }

    PropertyTimeLimit(Duration limit, Duration shrinkingLimit, PrintStream console) {
        this.limit = limit;
        this.shrinkingLimit = shrinkingLimit;
        this.console = console;
    }

    @Override
    public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property)
            throws InterruptedException {
        PropertyRun begun = new PropertyRun(context, limit, console);
        run = begun;
        begun.watcher.start();
        PropertyExecutionResult result;
        try {
            result = property.execute();
        } finally {
            begun.end();
        }
        String trouble = begun.trouble;
        return trouble == null ? result : result.mapToFailed(trouble);
    }

    @Override
    public TryExecutionResult aroundTry(TryLifecycleContext context, TryExecutor attempt, List<Object> arguments) {
        PropertyRun under = run;
        if (under == null) {
            return attempt.execute(arguments);
        }
        if (under.hasShrunkFor(shrinkingLimit)) {
            // then the smallest example so far is reported
            return TryExecutionResult.satisfied(true);
        }
        under.arguments = arguments;
        TryExecutionResult result = attempt.execute(arguments);
        if (result.isFalsified()) {
            under.falsified();
        }
        // the result of an interrupted try is meaningless and must not be shrunk
        return under.trouble == null ? result : TryExecutionResult.satisfied(true);
    }

    @Override
    public PropagationMode propagateTo() {
        return PropagationMode.ALL_DESCENDANTS;
    }

    /** The run of one property. */
    private static final class PropertyRun {

        private final Thread runner = Thread.currentThread();
        private final CountDownLatch over = new CountDownLatch(1);
        private final PropertyLifecycleContext context;
        private final Duration limit;
        private final PrintStream console;
        final Thread watcher = new Thread(this::watch, "property-time-limit");
        volatile List<Object> arguments = List.of();
        volatile @Nullable String trouble;
        private @Nullable Long falsifiedAt; // nanoseconds, of the first failure; null before

        PropertyRun(PropertyLifecycleContext context, Duration limit, PrintStream console) {
            this.context = context;
            this.limit = limit;
            this.console = console;
            watcher.setDaemon(true);
        }

        void falsified() {
            if (falsifiedAt == null) {
                falsifiedAt = System.nanoTime();
            }
        }

        boolean hasShrunkFor(Duration time) {
            Long since = falsifiedAt;
            return since != null && System.nanoTime() - since >= time.toNanos();
        }

        private void watch() {
            try {
                if (over.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                    return;
                }
            } catch (InterruptedException e) {
                return;
            }
            String found = describe();
            trouble = found;
            console.println(found);
            runner.interrupt();
        }

        /** Ends the watcher thread, and clears an interrupt that came too late. */
        void end() throws InterruptedException {
            over.countDown();
            while (watcher.isAlive()) {
                try {
                    watcher.join();
                } catch (InterruptedException atTheLimit) {
                    Thread.onSpinWait();
                }
            }
            if (trouble != null) {
                Thread.interrupted();
            }
        }

        private String describe() {
            String stack = Arrays.stream(runner.getStackTrace())
                    .map(frame -> "\n\tat " + frame)
                    .collect(Collectors.joining());
            return context.containerClass().getName() + "."
                    + context.targetMethod().getName() + " took longer than " + limit + "; seed = "
                    + context.attributes().seed().orElse("unknown") + ", arguments " + arguments + stack;
        }
    }
}
