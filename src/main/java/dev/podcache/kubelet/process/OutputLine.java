package dev.podcache.kubelet.process;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Optional;

/** A line of an output file: its time, a blank, and its text. Immutable. */
final class OutputLine {

    private static final long PER_SECOND = 100;
    private static final long NANOS = 10_000_000;
    private static final DateTimeFormatter NANOSECONDS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'").withZone(ZoneOffset.UTC);

    private final Instant time;
    private final byte[] text; // without the line break

    private OutputLine(Instant time, byte[] text) {
        this.time = time;
        this.text = text;
    }

    /** Returns the time of a number of hundredths of a second since 1970. */
    static Instant time(long hundredths) {
        return Instant.ofEpochSecond(
                Math.floorDiv(hundredths, PER_SECOND), Math.floorMod(hundredths, PER_SECOND) * NANOS);
    }

    /** Returns the number of whole hundredths of a second since 1970. */
    static long hundredths(Instant time) {
        return time.getEpochSecond() * PER_SECOND + time.getNano() / NANOS;
    }

    /** Parses a line of a file; empty if it is damaged, for example because the disk was full. */
    static Optional<OutputLine> parse(byte[] line) {
        int blank = 0;
        long hundredths = 0;
        while (blank < line.length && line[blank] >= '0' && line[blank] <= '9') {
            hundredths = hundredths * 10 + line[blank++] - '0';
        }
        if (blank == 0 || blank == line.length || line[blank] != ' ') {
            return Optional.empty();
        }
        byte[] text = Arrays.copyOfRange(line, blank + 1, line.length);
        return Optional.of(new OutputLine(time(hundredths), text));
    }

    Instant time() {
        return time;
    }

    /** Returns the text with a line break, and with the time at its beginning if {@code withTime}. */
    byte[] shown(boolean withTime) {
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        if (withTime) {
            shown.writeBytes((NANOSECONDS.format(time) + " ").getBytes(StandardCharsets.US_ASCII));
        }
        shown.writeBytes(text);
        shown.write('\n');
        return shown.toByteArray();
    }
}
