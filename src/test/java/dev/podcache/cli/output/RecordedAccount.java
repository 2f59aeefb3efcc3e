package dev.podcache.cli.output;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** An account whose lines can be read, on a clock that stands still. */
public final class RecordedAccount {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Account account;
    private final AtomicLong nanos = new AtomicLong();

    RecordedAccount(Account.Format format) {
        this.account = Account.direct(new PrintStream(bytes, true, StandardCharsets.UTF_8), format, nanos::get);
    }

    public static RecordedAccount ofText() {
        return new RecordedAccount(Account.Format.TEXT);
    }

    public static RecordedAccount ofJson() {
        return new RecordedAccount(Account.Format.JSON);
    }

    public Account account() {
        return account;
    }

    /** Lets seconds pass. */
    public void advance(double seconds) {
        nanos.addAndGet((long) (seconds * 1e9));
    }

    public List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** The lines as JSON objects. */
    public List<JsonNode> objects() {
        return lines().stream().map(RecordedAccount::parsed).toList();
    }

    public static JsonNode parsed(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException e) {
            throw new UncheckedIOException("not JSON: " + line, e);
        }
    }
}
