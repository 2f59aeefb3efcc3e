package dev.podcache.kubelet.process;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/**
 * A piece of a line of output: its time and at most {@link OutputFiles#LONGEST_PIECE} bytes of its text. Immutable, except
 * that the text is not copied.
 *
 * @param time of the line
 * @param text without the line break
 * @param first whether the line begins with this piece
 * @param last whether the line ends with this piece
 */
@SuppressWarnings("ArrayRecordComponent") // made and read by this package alone, once
record OutputLine(Instant time, byte[] text, boolean first, boolean last) {

    private static final long PER_SECOND = 100;
    private static final long NANOS = 10_000_000;
    private static final DateTimeFormatter NANOSECONDS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'").withZone(ZoneOffset.UTC);

    /** Returns the time of a number of hundredths of a second since 1970. */
    static Instant time(long hundredths) {
        return Instant.ofEpochSecond(
                Math.floorDiv(hundredths, PER_SECOND), Math.floorMod(hundredths, PER_SECOND) * NANOS);
    }

    /** Returns the number of whole hundredths of a second since 1970. */
    static long hundredths(Instant time) {
        return time.getEpochSecond() * PER_SECOND + time.getNano() / NANOS;
    }

    /** Returns the text with the line break, if the line ends here, and with the time of a line that begins here if {@code withTime}. */
    byte[] shown(boolean withTime) {
        if (!last && !(withTime && first)) {
            return text;
        }
        ByteArrayOutputStream shown = new ByteArrayOutputStream(text.length + 40);
        if (withTime && first) {
            shown.writeBytes((NANOSECONDS.format(time) + " ").getBytes(StandardCharsets.US_ASCII));
        }
        shown.writeBytes(text);
        if (last) {
            shown.write('\n');
        }
        return shown.toByteArray();
    }
}
