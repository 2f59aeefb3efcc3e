package dev.podcache.cli.output;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import com.google.common.collect.ImmutableList;
import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Configures Logback to log to standard error. Done in code because a {@code logback.xml} in this jar would configure
 * the logging of every program that uses the library.
 */
final class ProgramLogging {

    private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{24} - %msg%n";

    /** Loggers that quote the rest of an answer whose length differs from its header: it may be a Secret. */
    private static final ImmutableList<String> QUOTE_ANSWERS =
            ImmutableList.of("io.vertx.core.net.impl.ConnectionBase", "io.vertx.core.http.impl.HttpClientRequestImpl");

    private ProgramLogging() {}

    /**
     * Configures Logback if it is the backend of SLF4J. Another backend keeps its own configuration.
     *
     * @param level the level of Podcache's loggers; DEBUG adds stack traces. Other libraries log warnings at most.
     */
    static void toStandardError(Level level) {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (factory instanceof LoggerContext context) {
            setUp(context, level);
        }
    }

    static void setUp(LoggerContext context, Level level) {
        context.reset();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(level == Level.DEBUG ? PATTERN : PATTERN + "%nopex");
        encoder.start();
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setContext(context);
        appender.setTarget("System.err");
        appender.setEncoder(encoder);
        appender.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(logback(level == Level.ERROR ? Level.ERROR : Level.WARN));
        context.getLogger("dev.podcache").setLevel(logback(level));
        for (String quoting : QUOTE_ANSWERS) {
            context.getLogger(quoting).setLevel(ch.qos.logback.classic.Level.OFF);
        }
    }

    private static ch.qos.logback.classic.Level logback(Level level) {
        return ch.qos.logback.classic.Level.toLevel(level.name());
    }
}
