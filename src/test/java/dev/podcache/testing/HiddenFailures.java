package dev.podcache.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import com.google.common.collect.ImmutableList;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Collects, between {@link #begin} and {@link #end}, the failures that happen where the test cannot see them:
 *
 * <ul>
 * <li>an error logged by {@code dev.podcache}, or by Netty, which says so of code that it calls
 * <li>a warning of {@code dev.podcache} that carries a Throwable: code of a user threw, a listener for example, and the
 * code under test went on
 * <li>a failed assertion: an {@code AssertionError} that any logger logs at any enabled level, as a Throwable, as its
 * cause or by its name in the text
 * <li>an uncaught exception of a thread
 * </ul>
 *
 * <p>Main code that catches what a callback throws must therefore log it, or pass it on to a caller.
 *
 * <p>Of several that have begun, only the last collects: what a test under {@link NoLeaks} logs is judged once.
 * Thread-safe, but tests must not run concurrently.
 */
final class HiddenFailures extends AppenderBase<ILoggingEvent> {

    private static final String OURS = "dev.podcache";
    private static final String NETTY = "io.netty";
    private static final ImmutableList<String> ASSERTIONS = ImmutableList.of("AssertionError", "AssertionFailedError");
    private static final int KEPT = 20;

    private static final Deque<HiddenFailures> begun = new ArrayDeque<>(); // guarded by itself

    private final List<String> failures = new ArrayList<>(); // guarded by itself
    private final List<String> expected = new ArrayList<>(); // guarded by failures
    private final List<String> missing = new ArrayList<>(); // guarded by failures
    private Thread.@Nullable UncaughtExceptionHandler before;

    /** Begins to collect, in place of the one that began last. */
    void begin() {
        setContext(context());
        start();
        synchronized (begun) {
            if (!begun.isEmpty()) {
                HiddenFailures covered = begun.getLast();
                root().detachAppender(covered);
                // the warnings come to this one
                covered.expect(List.of());
            }
            begun.addLast(this);
            root().addAppender(this);
            before = Thread.getDefaultUncaughtExceptionHandler();
            Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
                String text = "uncaught in thread " + thread.getName() + ": " + Canary.textOf(NoLeaks.saw(thrown));
                System.err.println(text);
                add(text);
            });
        }
    }

    /** Ends to collect. The one that had begun before collects again. */
    void end() {
        synchronized (begun) {
            root().detachAppender(this);
            begun.remove(this);
            if (!begun.isEmpty()) {
                root().addAppender(begun.getLast());
            }
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        stop();
    }

    /** Returns the warnings and errors that a test declares. */
    static List<String> expectedBy(Method test) {
        ExpectedWarnings declared = test.getAnnotation(ExpectedWarnings.class);
        return declared == null ? List.of() : List.of(declared.value());
    }

    /** Throws an error that names all {@code problems}. */
    static void throwIfAny(List<String> problems) {
        failure(problems).ifPresent(failure -> {
            throw failure;
        });
    }

    /** Returns an error that names all {@code problems}, without the stack traces, which are in the log; empty if none. */
    static Optional<AssertionError> failure(List<String> problems) {
        if (problems.isEmpty()) {
            return Optional.empty();
        }
        String all = problems.stream()
                .flatMap(problem -> ("- " + problem).lines())
                .filter(line -> !line.startsWith("\t"))
                .collect(Collectors.joining("\n"));
        return Optional.of(new AssertionError("the test left behind:\n" + all));
    }

    /**
     * Takes what follows for expected if it contains one of {@code texts}. Each of them must come, unless another one
     * collects in place of this.
     */
    void expect(List<String> texts) {
        boolean collects;
        synchronized (begun) {
            collects = this.equals(begun.peekLast());
        }
        synchronized (failures) {
            expected.clear();
            missing.clear();
            if (collects) {
                expected.addAll(texts);
                missing.addAll(texts);
            }
        }
    }

    /** Returns the unexpected failures since the last call; the first of them, if they are many. */
    List<String> drain() {
        synchronized (failures) {
            List<String> drained = List.copyOf(failures);
            failures.clear();
            return drained;
        }
    }

    /** Returns the texts that were expected and have not come. */
    List<String> missing() {
        synchronized (failures) {
            return missing.stream()
                    .map(text -> "expected, but not logged: a warning with \"" + text + "\"")
                    .toList();
        }
    }

    @Override
    protected void append(ILoggingEvent event) {
        boolean ours = event.getLoggerName().startsWith(OURS);
        boolean error = event.getLevel().isGreaterOrEqual(Level.ERROR);
        boolean warning = ours && event.getLevel().isGreaterOrEqual(Level.WARN);
        Throwable thrown = event.getThrowableProxy() instanceof ThrowableProxy proxy ? proxy.getThrowable() : null;
        boolean failure = (error && (ours || event.getLoggerName().startsWith(NETTY)))
                || (warning && thrown != null)
                || isFailedAssertion(thrown)
                || ASSERTIONS.stream().anyMatch(event.getFormattedMessage()::contains);
        if (failure) {
            add(CapturedLog.text(event));
        } else if (warning) {
            synchronized (failures) {
                if (!missing.isEmpty()) {
                    String text = CapturedLog.text(event);
                    missing.removeIf(text::contains);
                }
            }
        }
    }

    private void add(String failure) {
        synchronized (failures) {
            missing.removeIf(failure::contains);
            if (expected.stream().noneMatch(failure::contains) && failures.size() < KEPT) {
                failures.add(failure);
            }
        }
    }

    private static boolean isFailedAssertion(@Nullable Throwable thrown) {
        return thrown != null && isFailedAssertion(thrown, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean isFailedAssertion(Throwable thrown, Set<Throwable> seen) {
        if (!seen.add(thrown)) {
            return false;
        }
        if (thrown instanceof AssertionError) {
            return true;
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            if (isFailedAssertion(suppressed, seen)) {
                return true;
            }
        }
        Throwable cause = thrown.getCause();
        return cause != null && isFailedAssertion(cause, seen);
    }

    private static LoggerContext context() {
        return (LoggerContext) LoggerFactory.getILoggerFactory();
    }

    private static Logger root() {
        return context().getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }
}
