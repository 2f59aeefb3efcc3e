package dev.podcache.apiserver.http;

import java.util.Arrays;

/**
 * Splits a stream of chunks into lines. A chunk may end anywhere, even inside a character, because in UTF-8 no byte of
 * a multi-byte character is a line feed. Skips empty lines, and the carriage return at the end of a line. Not
 * thread-safe.
 *
 * <p>A line inside one chunk is passed on without a copy. Only a line that spans chunks is copied, into a buffer that
 * doubles as needed and is released with the line, so an idle watch holds no buffer.
 */
final class LineDecoder {

    private static final byte[] NOTHING = {};

    private final int longest;
    private byte[] part = NOTHING;
    private int partLength;

    /** Receives each line. The bytes are valid only during the call. */
    @FunctionalInterface
    interface Lines {
        void line(byte[] bytes, int offset, int length);
    }

    /**
     * Creates a decoder for a new stream.
     *
     * @param longest the maximum length of a line in bytes, without its end
     */
    LineDecoder(int longest) {
        this.longest = longest;
    }

    /**
     * Decodes the next chunk.
     *
     * @return false if a line is too long; the decoder must not be used after that
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

    /** Returns how many bytes of an unfinished line are kept. */
    int kept() {
        return partLength;
    }

    /** Returns whether the stream so far ends inside a line. */
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
