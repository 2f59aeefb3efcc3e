package dev.podcache.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Captures log events between {@link #begin} and {@link #end}: all levels of {@code dev.podcache}, the configured
 * levels of other loggers.
 */
final class CapturedLog extends AppenderBase<ILoggingEvent> {

    private static final String OURS = "dev.podcache";

    private final Queue<ILoggingEvent> events = new ConcurrentLinkedQueue<>();
    private @Nullable Level before;

    void begin() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        Logger ours = context.getLogger(OURS);
        before = ours.getLevel();
        ours.setLevel(Level.TRACE);
        setContext(context);
        start();
        root(context).addAppender(this);
    }

    void end() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        root(context).detachAppender(this);
        context.getLogger(OURS).setLevel(before);
        stop();
    }

    @Override
    protected void append(ILoggingEvent event) {
        event.prepareForDeferredProcessing();
        events.add(event);
    }

    /** Returns the warnings and errors of {@code dev.podcache} as text. */
    List<String> warnings() {
        return events.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .filter(event -> event.getLoggerName().startsWith(OURS))
                .map(CapturedLog::text)
                .toList();
    }

    /** Returns all events as text, with stack traces. */
    List<String> lines() {
        return events.stream().map(CapturedLog::text).toList();
    }

    static String text(ILoggingEvent event) {
        String thrown = event.getThrowableProxy() == null
                ? ""
                : System.lineSeparator() + ThrowableProxyUtil.asString(event.getThrowableProxy());
        String context = event.getMDCPropertyMap().isEmpty() ? "" : " " + event.getMDCPropertyMap();
        return event.getLevel() + " " + event.getLoggerName() + ": " + event.getFormattedMessage() + context + thrown;
    }

    private static Logger root(LoggerContext context) {
        return context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }
}
