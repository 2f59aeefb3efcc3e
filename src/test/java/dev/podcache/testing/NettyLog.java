package dev.podcache.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Captures what Netty logs at INFO and above, until it is closed. */
public final class NettyLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final Logger netty = ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger("io.netty");
    private final @Nullable Level before = netty.getLevel();

    /** Begins to capture. */
    public NettyLog() {
        netty.setLevel(Level.INFO);
        setContext(netty.getLoggerContext());
        start();
        netty.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        lines.add(CapturedLog.text(event));
    }

    /** Returns what was logged so far. */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void close() {
        netty.detachAppender(this);
        netty.setLevel(before);
        stop();
    }
}
