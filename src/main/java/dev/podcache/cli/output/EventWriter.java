package dev.podcache.cli.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.object.Quoted;
import java.io.OutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes events to standard output: one line of text each, or one JSON object a line. Thread-safe; lines never mix.
 * When the output is closed, {@link #broken()} completes and later events are discarded. Must be {@linkplain #close()
 * closed}.
 */
public final class EventWriter implements AutoCloseable {

    /*
     * One task at a time prints, and ends when no line waits. Nothing is printed under the lock. Once the queue was
     * full, lines are dropped until all of it is printed: so the dropped lines form one gap, and the event that reports
     * it stands in its place.
     */

    /** The form of the output. */
    public enum Format {
        TEXT,
        JSON;

        /** Returns the format as the option spells it. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Minutes of a busy agent, and a few megabytes. */
    private static final int MAX_WAITING = 10_000;

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final PrintStream out;
    private final Format format;
    private final LongSupplier nanoTime;
    private final ExecutorService executor;
    private final CompletableFuture<Void> broken = new CompletableFuture<>();
    private volatile long began;

    private final Queue<String> waiting = new ArrayDeque<>(); // guarded by this
    private long dropped; // guarded by this
    private boolean printing; // guarded by this; true from the moment a task is submitted until it ends
    private boolean closed; // guarded by this

    EventWriter(PrintStream out, Format format, LongSupplier nanoTime, ExecutorService executor) {
        this.out = out;
        this.format = format;
        this.nanoTime = nanoTime;
        this.executor = executor;
        this.began = nanoTime.getAsLong();
    }

    /**
     * Returns a writer that prints on its own thread, so that a slow reader of the output never blocks {@link #write}.
     * Events that cannot be printed in time are dropped, and their number is reported.
     */
    public static EventWriter to(PrintStream out, Format format) {
        return new EventWriter(
                out,
                format,
                System::nanoTime,
                Executors.newSingleThreadExecutor(new ThreadFactoryBuilder()
                        .setNameFormat("event-writer")
                        .setDaemon(true)
                        .build()));
    }

    /** Returns a writer that prints nothing. */
    public static EventWriter discarding() {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        return new EventWriter(nowhere, Format.JSON, System::nanoTime, MoreExecutors.newDirectExecutorService());
    }

    /** Starts to count {@link #seconds()} from zero. */
    public void begin() {
        began = nanoTime.getAsLong();
    }

    /** Returns the seconds since the writer was created, or since {@link #begin()}. */
    public double seconds() {
        return (nanoTime.getAsLong() - began) / 1e9;
    }

    /** Writes an event: time, name and text on one line, or its facts as JSON. */
    public void write(ProgramEvent event) {
        print(line(event));
    }

    /** Writes a heading, or the event {@code act} with the fact {@code title}. */
    public void heading(String title) {
        ProgramEvent event = ProgramEvent.of("act", "title", title);
        print(format == Format.JSON ? json(event) : System.lineSeparator() + "-- " + title);
    }

    /**
     * Writes an event whose text is several lines, without time and name. Waits until everything before it is printed,
     * so it is never dropped.
     */
    public void block(ProgramEvent event) {
        drain();
        print(format == Format.JSON ? json(event) : event.text());
    }

    /** Completes when the output cannot be written any more. */
    CompletableFuture<Void> broken() {
        return broken;
    }

    /**
     * Waits until everything is printed, and checks that it was.
     *
     * @throws CommandException if it cannot
     */
    public void requireReader() {
        drain();
        if (broken.isDone()) {
            throw new CommandException(
                    "standard output cannot be written: its reader closed it, or its disk is full", null);
        }
    }

    /** Waits until everything is printed, however slow the reader is, or the output is closed. Idempotent. */
    @Override
    public void close() {
        drain();
        synchronized (this) {
            closed = true;
        }
        // a line may have come between the two
        drain();
        MoreExecutors.shutdownAndAwaitTermination(executor, CLOSE_TIMEOUT);
    }

    private void print(String line) {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (dropped > 0 || waiting.size() >= MAX_WAITING) {
                dropped++;
                return;
            }
            waiting.add(line);
            if (printing) {
                return;
            }
            printing = true;
        }
        executor.execute(this::printWaiting);
    }

    private void printWaiting() {
        for (String line = next(); line != null; line = next()) {
            out.println(line);
            if (out.checkError()) {
                broken.complete(null);
            }
        }
    }

    private synchronized @Nullable String next() {
        if (broken.isDone()) {
            waiting.clear();
            dropped = 0;
        }
        String line = waiting.poll();
        if (line == null && dropped > 0) {
            String text = dropped + " lines were dropped: the reader of the output was too slow";
            line = line(new ProgramEvent("dropped", text, ImmutableMap.of("lines", dropped)));
            dropped = 0;
        }
        if (line == null) {
            printing = false;
            notifyAll();
        }
        return line;
    }

    /** Returns early, with the interrupt status set, if the thread is interrupted. */
    private synchronized void drain() {
        try {
            while (printing) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The text may hold what somebody else has chosen, such as the author of a pod: it must not look like other lines. */
    private String line(ProgramEvent event) {
        return format == Format.JSON
                ? json(event)
                : String.format(Locale.ROOT, "%6.1fs  %-12s %s", seconds(), event.name(), Quoted.line(event.text()));
    }

    private String json(ProgramEvent event) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", event.name());
        line.put("seconds", BigDecimal.valueOf(seconds()).setScale(3, RoundingMode.HALF_UP));
        line.putAll(event.facts());
        try {
            return JSON.writeValueAsString(line);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("event " + event.name() + " has facts that JSON cannot express", e);
        }
    }
}
