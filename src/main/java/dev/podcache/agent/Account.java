package dev.podcache.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import java.io.OutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * The live account on standard output: lines for people, or one JSON object a line for programs. Thread-safe; lines never mix.
 * When nobody reads any more (a closed pipe), it says so through {@link #broken()} and goes silent.
 */
final class Account {

    /** For whom. */
    enum Format {
        TEXT,
        JSON
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    private final PrintStream out;
    private final Format format;
    private final LongSupplier nanoTime;
    private volatile long began;
    private final CompletableFuture<Void> broken = new CompletableFuture<>();

    Account(PrintStream out, Format format, LongSupplier nanoTime) {
        this.out = out;
        this.format = format;
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
    }

    /** One that nobody reads. */
    static Account silent(LongSupplier nanoTime) {
        return new Account(
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8), Format.JSON, nanoTime);
    }

    /** Counts the time from now on: what was made ready before does not count. */
    void begin() {
        began = nanoTime.getAsLong();
    }

    /** Tells an event: time, name and text on one line, or its facts. */
    void tell(Event event) {
        if (format == Format.JSON) {
            print(json(event));
        } else {
            print(String.format(Locale.ROOT, "%6.1fs  %-12s %s", seconds(), event.name(), event.text()));
        }
    }

    /** Begins a chapter. */
    void heading(String title) {
        if (format == Format.JSON) {
            print(json(new Event("act", title, ImmutableMap.of("title", title))));
        } else {
            print(System.lineSeparator() + "-- " + title);
        }
    }

    /** Tells an event whose text is a block of lines that needs no time in front. */
    void block(Event event) {
        print(format == Format.JSON ? json(event) : event.text());
    }

    /** Completes when standard output no longer takes what we print. */
    CompletableFuture<Void> broken() {
        return broken;
    }

    /**
     * Nothing, as long as somebody reads.
     *
     * @throws CommandFailure if standard output was closed
     */
    void requireUnbroken() {
        if (broken.isDone()) {
            throw new CommandFailure(
                    "standard output takes no more: closed by whoever read it, or its disk is full", null);
        }
    }

    /** Seconds since the account began. */
    double seconds() {
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

    private void print(String line) {
        boolean failed;
        synchronized (this) {
            out.println(line);
            failed = out.checkError();
        }
        if (failed) {
            broken.complete(null);
        }
    }
}
