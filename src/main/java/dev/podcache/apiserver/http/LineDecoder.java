package dev.podcache.apiserver.http;

import java.util.Arrays;

/**
 * Cuts a stream of bytes into lines, wherever its chunks begin and end. Works on bytes, so a chunk that ends inside a
 * character does no harm: in UTF-8 no byte of a longer character is a line feed. Empty lines are skipped, and so is the
 * carriage return of a line that ends with one. Not thread-safe.
 *
 * <p>A line inside one chunk is passed on where it lies; only what crosses a border is copied, into a buffer that
 * doubles and is given up with the line, so that a watch on which nothing happens holds none.
 */
final class LineDecoder {

    private static final byte[] NOTHING = {};

    private final int longest;
    private byte[] part = NOTHING;
    private int partLength;

    /** Told each line; the bytes are valid only during the call. */
    @FunctionalInterface
    interface Lines {
        void line(byte[] bytes, int offset, int length);
    }

    /**
     * A decoder at the beginning of a stream.
     *
     * @param longest how long a line may be, in bytes, without its end
     */
    LineDecoder(int longest) {
        this.longest = longest;
    }

    /**
     * Takes the next chunk.
     *
     * @return false if a line is too long; the decoder is of no use then
     */
    boolean accept(byte[] chunk, Lines lines) {
        int start = 0;
        for (int i = 0; i < chunk.length; i++) {
            if (chunk[i] == '\n') {
                if (partLength + i - start > longest) {
                    return false;
                }
                endLine(chunk, start, i, lines);
                start = i + 1;
            }
        }
        int rest = chunk.length - start;
        if (partLength + rest > longest) {
            return false;
        }
        keep(chunk, start, rest);
        return true;
    }

    /** Whether the stream so far ends inside a line. */
    boolean insideLine() {
        return partLength > 0;
    }

    private void endLine(byte[] chunk, int start, int end, Lines lines) {
        if (partLength == 0) {
            pass(chunk, start, end, lines);
            return;
        }
        keep(chunk, start, end - start);
        int length = partLength;
        partLength = 0;
        pass(part, 0, length, lines);
        part = NOTHING;
    }

    private static void pass(byte[] bytes, int start, int end, Lines lines) {
        int trimmed = end > start && bytes[end - 1] == '\r' ? end - 1 : end;
        if (trimmed > start) {
            lines.line(bytes, start, trimmed - start);
        }
    }

    private void keep(byte[] chunk, int start, int length) {
        if (partLength + length > part.length) {
            part = Arrays.copyOf(part, Math.max(partLength + length, 2 * part.length));
        }
        System.arraycopy(chunk, start, part, partLength, length);
        partLength += length;
    }
}
