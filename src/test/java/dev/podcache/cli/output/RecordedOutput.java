package dev.podcache.cli.output;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.util.concurrent.MoreExecutors;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A writer whose lines can be read, with a clock that stands still. */
public final class RecordedOutput {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final EventWriter events;
    private final AtomicLong nanos = new AtomicLong();

    RecordedOutput(EventWriter.Format format) {
        this.events = to(new PrintStream(bytes, true, StandardCharsets.UTF_8), format, nanos);
    }

    private static EventWriter to(PrintStream out, EventWriter.Format format, AtomicLong nanos) {
        return new EventWriter(out, format, nanos::get, MoreExecutors.newDirectExecutorService());
    }

    /** Returns a writer that prints text on the thread that writes. */
    public static EventWriter direct(PrintStream out) {
        return to(out, EventWriter.Format.TEXT, new AtomicLong());
    }

    public static RecordedOutput ofText() {
        return new RecordedOutput(EventWriter.Format.TEXT);
    }

    public static RecordedOutput ofJson() {
        return new RecordedOutput(EventWriter.Format.JSON);
    }

    public EventWriter events() {
        return events;
    }

    /** Advances the clock. */
    public void advance(double seconds) {
        nanos.addAndGet((long) (seconds * 1e9));
    }

    public List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** Returns the lines as JSON objects. */
    public List<JsonNode> objects() {
        return lines().stream().map(RecordedOutput::parsed).toList();
    }

    public static JsonNode parsed(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException e) {
            throw new UncheckedIOException("not JSON: " + line, e);
        }
    }
}
