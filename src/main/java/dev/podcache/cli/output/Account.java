package dev.podcache.cli.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.io.OutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The live account on standard output: lines for people, or one JSON object a line for programs. Thread-safe; lines
 * never mix. When nobody reads any more (a closed pipe), it says so through {@link #broken()} and goes silent. Must
 * be {@linkplain #close() closed}.
 */
public final class Account implements AutoCloseable {

    /** For whom. */
    public enum Format {
        TEXT,
        JSON
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Minutes of a busy agent, and a few megabytes. */
    private static final int MOST_WAITING = 10_000;

    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final LineWriter lines;
    private final @Nullable ExecutorService writer;
    private final Format format;
    private final LongSupplier nanoTime;
    private volatile long began;

    private Account(PrintStream out, Format format, LongSupplier nanoTime, @Nullable ExecutorService writer) {
        this.writer = writer;
        this.format = format;
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
        this.lines = new LineWriter(out, writer == null ? Runnable::run : writer, MOST_WAITING, this::gap);
    }

    /** One that prints on the thread that tells, and so waits for whoever reads. */
    public static Account direct(PrintStream out, Format format, LongSupplier nanoTime) {
        return new Account(out, format, nanoTime, null);
    }

    /**
     * One that prints on a thread of its own: {@link #tell} and {@link #heading} never wait, which the threads of
     * watches must not. What cannot be printed for long is dropped, and that is told when the reader goes on.
     */
    public static Account unhurried(PrintStream out, Format format, LongSupplier nanoTime) {
        ThreadFactory threads = new ThreadFactoryBuilder()
                .setNameFormat("agent-account")
                .setDaemon(true)
                .build();
        return new Account(out, format, nanoTime, Executors.newSingleThreadExecutor(threads));
    }

    /** One that nobody reads. */
    public static Account silent(LongSupplier nanoTime) {
        return direct(
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8), Format.JSON, nanoTime);
    }

    /** Counts the time from now on: what was made ready before does not count. */
    public void begin() {
        began = nanoTime.getAsLong();
    }

    /** Tells an event: time, name and text on one line, or its facts. */
    public void tell(Event event) {
        lines.print(line(event));
    }

    /** Begins a chapter. */
    public void heading(String title) {
        if (format == Format.JSON) {
            lines.print(json(new Event("act", title, ImmutableMap.of("title", title))));
        } else {
            lines.print(System.lineSeparator() + "-- " + title);
        }
    }

    /**
     * Tells an event whose text is a block of lines that needs no time in front. Waits until all is printed that was
     * told before, so it is never dropped.
     */
    public void block(Event event) {
        lines.drain();
        lines.print(format == Format.JSON ? json(event) : event.text());
    }

    /** Completes when standard output no longer takes what we print. */
    CompletableFuture<Void> broken() {
        return lines.broken();
    }

    /**
     * Nothing, as long as somebody reads.
     *
     * @throws CommandFailure if standard output was closed
     */
    public void requireUnbroken() {
        if (lines.broken().isDone()) {
            throw new CommandFailure(
                    "standard output takes no more: closed by whoever read it, or its disk is full", null);
        }
    }

    /** Seconds since the account began. */
    public double seconds() {
        return (nanoTime.getAsLong() - began) / 1e9;
    }

    private String json(Event event) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", event.name());
        line.put("seconds", BigDecimal.valueOf(seconds()).setScale(3, RoundingMode.HALF_UP));
        line.putAll(event.facts());
        try {
            return JSON.writeValueAsString(line);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("facts of " + event.name() + " that are no JSON", e);
        }
    }

    private String line(Event event) {
        return format == Format.JSON
                ? json(event)
                : String.format(Locale.ROOT, "%6.1fs  %-12s %s", seconds(), event.name(), event.text());
    }

    private String gap(long dropped) {
        return line(new Event(
                "dropped",
                dropped + (dropped == 1 ? " line was dropped" : " lines were dropped") + ": nobody read for too long",
                ImmutableMap.of("lines", dropped)));
    }

    /** Waits until everything is printed, however long the reader pauses, unless nobody reads any more. Idempotent. */
    @Override
    public void close() {
        lines.close();
        if (writer == null) {
            return;
        }
        writer.shutdown();
        try {
            writer.awaitTermination(CLOSING.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
