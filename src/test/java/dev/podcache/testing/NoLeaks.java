package dev.podcache.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
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
 * Fails a test that leaves something behind. After each test, and after its own {@code @AfterEach}:
 *
 * <ul>
 * <li>no thread lives on that the test, or its fields, started; they get eight seconds to end
 * <li>no exception went uncaught in any thread
 * <li>{@code dev.podcache} logged no warning or error but those of {@link ExpectedWarnings} and {@link #allowWarnings}
 * <li>the {@link #CANARY}, which tests plant in payloads, is in no form in a log line, at TRACE for {@code
 * dev.podcache}, nor in what was thrown and logged or uncaught, nor in the name of a thread, nor in
 * anything that was {@link #saw seen}
 * <li>no object given to {@link #watchForMutation} has changed, and no check given to {@link #checkAfter} fails
 * </ul>
 *
 * <p>Used as {@code @ExtendWith(NoLeaks.class)}; a test method that takes a parameter of this type gets it. For
 * tests that run one after the other.
 */
public final class NoLeaks
        implements TestInstancePreConstructCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {

    /** What no log may ever contain, plain or in base64. */
    public static final String CANARY = "canary-5f1c7be3a90d4";

    /** What users of the code under test got to see in this test, as text. */
    private static final Queue<String> SEEN = new ConcurrentLinkedQueue<>();

    /** The configuration parameter of JUnit that says how long threads get to end, in ISO form. */
    static final String PATIENCE_PARAMETER = "podcache.noLeaks.patience";

    /** For a busy machine; less than the ten seconds after which an idle thread of a forgotten pool ends by itself. */
    private static final Duration PATIENCE = Duration.ofSeconds(8);

    private static final ObjectMapper JSON = new ObjectMapper();

    private @Nullable Watch watch;

    /** What is watched from the beginning of one test to its end. */
    private static final class Watch {
        final LiveThreads threads = new LiveThreads();
        final CapturedLog log = new CapturedLog();
        final Thread.@Nullable UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        final Queue<String> uncaught = new ConcurrentLinkedQueue<>();
        final Queue<String> allowed = new ConcurrentLinkedQueue<>();
        final Queue<Executable> checks = new ConcurrentLinkedQueue<>();
    }

    /**
     * Notes what a user of the code under test got: an exception, a state, an argument of a listener; fixtures do it
     * for the tests. The test fails if it shows the canary. On any thread.
     *
     * @return the same
     */
    public static <T> T saw(T object) {
        SEEN.add(Canary.textOf(object));
        return object;
    }

    /** Permits, without asking for it, a warning or error that contains {@code text}. */
    public void allowWarnings(String text) {
        current().allowed.add(text);
    }

    /** Remembers what {@code object} is now; the test fails if it is anything else at the end. */
    public void watchForMutation(Object object) {
        String before = json(object);
        checkAfter(() -> {
            String after = json(object);
            if (!after.equals(before)) {
                throw new AssertionError("an object that was handed out was modified, from " + before + " to " + after);
            }
        });
    }

    /** Runs {@code check} at the end of the test, such as: the server has no watch open. */
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
        Watch ended = current();
        List<String> complaints = new ArrayList<>();
        // before they end
        complainOfThreadNames(complaints);
        Duration patience = context.getConfigurationParameter(PATIENCE_PARAMETER, Duration::parse)
                .orElse(PATIENCE);
        for (Thread thread : ended.threads.survivors(patience)) {
            complaints.add("thread " + thread.getName() + " lives on, at " + List.of(thread.getStackTrace()));
        }
        Thread.setDefaultUncaughtExceptionHandler(ended.handler);
        ended.log.end();
        watch = null;
        complaints.addAll(ended.uncaught);
        complainOfLog(ended, expected(context), complaints);
        SEEN.stream()
                .filter(Canary::isIn)
                .map(seen -> "a secret in what was seen: " + seen)
                .forEach(complaints::add);
        SEEN.clear();
        for (Executable check : ended.checks) {
            try {
                check.execute();
            } catch (Throwable failed) {
                complaints.add(failed.toString());
            }
        }
        if (!complaints.isEmpty()) {
            throw new AssertionError("the test left behind:\n- " + String.join("\n- ", complaints));
        }
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
        Watch begun = new Watch();
        watch = begun;
        SEEN.clear();
        begun.log.begin();
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, thrown) -> begun.uncaught.add("uncaught in thread " + thread.getName() + ": " + saw(thrown)));
    }

    private Watch current() {
        Watch begun = watch;
        if (begun == null) {
            throw new IllegalStateException("no test is running under NoLeaks");
        }
        return begun;
    }

    private static void complainOfLog(Watch ended, List<String> expected, List<String> complaints) {
        List<String> warnings = ended.log.warnings();
        for (String text : expected) {
            if (warnings.stream().noneMatch(warning -> warning.contains(text))) {
                complaints.add("expected, but not logged: a warning with \"" + text + "\"");
            }
        }
        for (String warning : warnings) {
            if (expected.stream().noneMatch(warning::contains)
                    && ended.allowed.stream().noneMatch(warning::contains)) {
                complaints.add("not expected: " + warning);
            }
        }
        for (String line : ended.log.lines()) {
            if (Canary.isIn(line)) {
                complaints.add("a secret in the log: " + line);
            }
        }
    }

    private static void complainOfThreadNames(List<String> complaints) {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (Canary.isIn(thread.getName())) {
                complaints.add("a secret in the name of a thread: " + thread.getName());
            }
        }
    }

    private static List<String> expected(ExtensionContext context) {
        ExpectedWarnings declared = context.getRequiredTestMethod().getAnnotation(ExpectedWarnings.class);
        return declared == null ? List.of() : List.of(declared.value());
    }

    private static String json(Object object) {
        try {
            return JSON.writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("no copy can be kept of a " + object.getClass(), e);
        }
    }
}
