package dev.podcache.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;
import org.junit.jupiter.api.function.Executable;

/**
 * A JUnit extension that fails a test which leaves something behind. After each test and its {@code @AfterEach}
 * methods, it checks:
 *
 * <ul>
 * <li>No thread started by the test or its fields is alive. Threads have eight seconds to end.
 * <li>No thread had an uncaught exception, and nothing that was logged carries a failed assertion.
 * <li>{@code dev.podcache} logged no warning or error except those of {@link ExpectedWarnings} and
 * {@link #allowWarnings}.
 * <li>The {@link #CANARY}, a secret that tests put into payloads, appears in no form in a log line (at TRACE for
 * {@code dev.podcache}), in a logged or uncaught exception, in the name of a thread, or in an object passed to
 * {@link #saw}.
 * <li>No object passed to {@link #watchForMutation} has changed, and no check passed to {@link #checkAfter} fails.
 * </ul>
 *
 * <p>Use it as {@code @ExtendWith(NoLeaks.class)}. A test method with a parameter of this type gets the extension.
 * Tests must not run concurrently.
 */
public final class NoLeaks
        implements TestInstancePreConstructCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {

    /** The text that no log may contain in any form. */
    public static final String CANARY = "canary-5f1c7be3a90d4";

    /** The text of the objects passed to {@link #saw} in this test. */
    private static final Queue<String> SEEN = new ConcurrentLinkedQueue<>();

    /** The configuration parameter of JUnit for the time that threads have to end, in ISO-8601 form. */
    static final String PATIENCE_PARAMETER = "podcache.noLeaks.patience";

    /**
     * Long enough for a busy machine, and shorter than the ten seconds after which an idle thread of a forgotten pool
     * ends.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(8);

    private static final ObjectMapper JSON = new ObjectMapper();

    private @Nullable RunningTest watch;

    /** The state of the extension during one test. */
    private static final class RunningTest {
        final LiveThreads threads = new LiveThreads();
        final CapturedLog log = new CapturedLog();
        final HiddenFailures hidden = new HiddenFailures();
        final Queue<String> allowed = new ConcurrentLinkedQueue<>();
        final Queue<Executable> checks = new ConcurrentLinkedQueue<>();
    }

    /**
     * Records an object that a user of the code under test can see, such as an exception, a state or an argument of a
     * listener. Fixtures call this on behalf of tests. The test fails if the object shows the canary. Thread-safe.
     *
     * @return {@code object}
     */
    public static <T> T saw(T object) {
        SEEN.add(Canary.textOf(object));
        return object;
    }

    /**
     * Allows, but does not require, a warning or error that contains {@code text}.
     *
     * @throws IllegalArgumentException if {@code text} is blank, which would allow them all
     */
    public void allowWarnings(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("the text must be a part of the warning, but is blank");
        }
        current().allowed.add(text);
    }

    /** Returns the warnings and errors that {@code dev.podcache} has logged during the test. */
    public List<String> warnings() {
        return current().log.warnings();
    }

    /** Fails the test if {@code object} changes before its end. */
    public void watchForMutation(Object object) {
        String before = json(object);
        checkAfter(() -> {
            String after = json(object);
            if (!after.equals(before)) {
                throw new AssertionError("an object that was handed out was modified, from " + before + " to " + after);
            }
        });
    }

    /** Runs {@code check} after the test, for example that the server has no open watch. */
    public void checkAfter(Executable check) {
        current().checks.add(check);
    }

    @Override
    public void preConstructTestInstance(TestInstanceFactoryContext factoryContext, ExtensionContext context) {
        begin();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        begin();
    }

    @Override
    public void afterEach(ExtensionContext context) throws InterruptedException {
        RunningTest ended = current();
        List<String> problems = new ArrayList<>();
        // thread names must be read before the threads end
        checkThreadNames(problems);
        Duration patience = context.getConfigurationParameter(PATIENCE_PARAMETER, Duration::parse)
                .orElse(PATIENCE);
        for (Thread thread : ended.threads.survivors(patience)) {
            problems.add("thread " + thread.getName() + " lives on, at " + List.of(thread.getStackTrace()));
        }
        ended.hidden.end();
        ended.log.end();
        watch = null;
        checkLog(ended, HiddenFailures.expectedBy(context.getRequiredTestMethod()), problems);
        SEEN.stream()
                .filter(Canary::isIn)
                .map(seen -> "a secret in what was seen: " + seen)
                .forEach(problems::add);
        SEEN.clear();
        for (Executable check : ended.checks) {
            try {
                check.execute();
            } catch (Throwable failed) {
                problems.add(failed.toString());
            }
        }
        HiddenFailures.throwIfAny(problems);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == NoLeaks.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return this;
    }

    private void begin() {
        if (watch != null) {
            return;
        }
        RunningTest begun = new RunningTest();
        watch = begun;
        SEEN.clear();
        begun.log.begin();
        begun.hidden.begin();
    }

    private RunningTest current() {
        RunningTest begun = watch;
        if (begun == null) {
            throw new IllegalStateException("no test is running under NoLeaks");
        }
        return begun;
    }

    private static void checkLog(RunningTest ended, List<String> expected, List<String> problems) {
        Set<String> logged = new LinkedHashSet<>(ended.log.warnings());
        logged.addAll(ended.hidden.drain());
        for (String text : expected) {
            if (logged.stream().noneMatch(warning -> warning.contains(text))) {
                problems.add("expected, but not logged: a warning with \"" + text + "\"");
            }
        }
        for (String warning : logged) {
            if (expected.stream().noneMatch(warning::contains)
                    && ended.allowed.stream().noneMatch(warning::contains)) {
                problems.add("not expected: " + warning);
            }
        }
        for (String line : ended.log.lines()) {
            if (Canary.isIn(line)) {
                problems.add("a secret in the log: " + line);
            }
        }
    }

    private static void checkThreadNames(List<String> problems) {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (Canary.isIn(thread.getName())) {
                problems.add("a secret in the name of a thread: " + thread.getName());
            }
        }
    }

    private static String json(Object object) {
        try {
            return JSON.writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot be copied as JSON: " + object.getClass(), e);
        }
    }
}
