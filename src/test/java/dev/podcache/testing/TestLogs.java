package dev.podcache.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import com.google.common.base.Splitter;
import java.io.PrintStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.slf4j.LoggerFactory;

/**
 * Keeps what tests log and print out of the console: each class has a file in the folder of the system property {@code
 * podcache.test.logs}, by default {@code target/test-logs}. It has what is printed to {@code System.out} and {@code
 * System.err}, and what is logged: by {@code dev.podcache} from DEBUG on, by others from INFO on. A test that fails shows
 * its stack trace and the last lines of its log on the console. If the property is empty, all goes to the console.
 *
 * <p>JUnit finds this class through {@code META-INF/services}.
 */
public final class TestLogs implements TestExecutionListener {

    private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level [%thread] %logger{30} - %msg%n";

    private static @Nullable TestLog installed; // guarded by the class, as the next
    private static PrintStream err = System.err;

    private final @Nullable TestLog log = install(System.getProperty("podcache.test.logs", "target/test-logs"));

    /** Created by JUnit through {@code ServiceLoader}. */
    public TestLogs() {}

    /** Returns the console, for what must be seen before a test ends. */
    static synchronized PrintStream console() {
        return installed == null ? System.err : err;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (log == null) {
            return;
        }
        if (test.getSource().orElse(null) instanceof ClassSource source) {
            log.beginClass(
                    Splitter.on('$').split(source.getClassName()).iterator().next());
        }
        if (test.isTest()) {
            log.beginTest(nameOf(test));
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (log != null && result.getStatus() == TestExecutionResult.Status.FAILED) {
            log.failed(nameOf(test), result.getThrowable().orElseGet(() -> new AssertionError("no reason given")));
        }
    }

    private static String nameOf(TestIdentifier test) {
        String method = test.getSource().orElse(null) instanceof MethodSource source ? source.getMethodName() : "";
        String shown = test.getDisplayName();
        return shown.startsWith(method) ? shown : method + " " + shown;
    }

    private static synchronized @Nullable TestLog install(String folder) {
        if (installed != null || folder.isEmpty()) {
            return installed;
        }
        TestLog log = new TestLog(Path.of(folder), System.out);
        installed = log;
        err = System.err;
        System.setOut(log.stream());
        System.setErr(log.stream());
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        LogLines lines = new LogLines(log, context);
        lines.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.addAppender(lines);
        root.setLevel(Level.INFO);
        context.getLogger("dev.podcache").setLevel(Level.DEBUG);
        return log;
    }

    /** Writes what is logged. */
    private static final class LogLines extends UnsynchronizedAppenderBase<ILoggingEvent> {

        private final TestLog log;
        private final PatternLayout layout = new PatternLayout();

        LogLines(TestLog log, LoggerContext context) {
            this.log = log;
            setContext(context);
            layout.setContext(context);
            layout.setPattern(PATTERN);
            layout.start();
        }

        @Override
        protected void append(ILoggingEvent event) {
            log.add(layout.doLayout(event));
        }
    }
}
