package dev.podcache.chaos;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Looks for payloads in everything that is logged while it is open, of ours at TRACE. Keeps nothing of it. */
final class CanaryLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private static final String OURS = "dev.podcache";
    private static final List<String> NOISY = List.of(OURS, "io.vertx", "io.fabric8");

    private final World world;
    private final LoggerContext loggers = (LoggerContext) LoggerFactory.getILoggerFactory();
    private final @Nullable Level before = ours().getLevel();

    CanaryLog(World world) {
        this.world = world;
        setContext(loggers);
    }

    void begin() {
        start();
        ours().setLevel(Level.TRACE);
        root().addAppender(this);
        // warnings are what a run is made of: they would drown the console
        for (String name : NOISY) {
            loggers.getLogger(name).addAppender(this);
            loggers.getLogger(name).setAdditive(false);
        }
    }

    @Override
    protected void append(ILoggingEvent event) {
        world.figures.count("log lines");
        String thrown = event.getThrowableProxy() == null ? "" : ThrowableProxyUtil.asString(event.getThrowableProxy());
        if (ChaosCanary.isIn(event.getFormattedMessage()) || ChaosCanary.isIn(thrown)) {
            world.violations.add(Shape.PAYLOAD_IN_LOG, "a payload was logged: " + event + thrown);
        }
    }

    @Override
    public void close() {
        for (String name : NOISY) {
            loggers.getLogger(name).setAdditive(true);
            loggers.getLogger(name).detachAppender(this);
        }
        root().detachAppender(this);
        ours().setLevel(before);
        stop();
    }

    private Logger ours() {
        return loggers.getLogger(OURS);
    }

    private Logger root() {
        return loggers.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }
}
