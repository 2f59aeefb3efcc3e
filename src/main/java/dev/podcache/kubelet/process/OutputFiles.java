package dev.podcache.kubelet.process;

import com.google.common.primitives.Longs;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lines of the files {@code output.<n>} of a container, in order, while {@code supervise.sh} may write further
 * ones. Reads blocks: a line of any length takes no more memory than a short one. Not thread-safe.
 */
final class OutputFiles implements Closeable {

    /*
     * A line of a file is its time, a blank and a text. A plus behind the time says that the next line of the file
     * continues the text, because supervise.sh has cut it. Damaged lines, as of a full disk, are left out.
     */

    /** As in the log of a CRI. */
    static final int LONGEST_PIECE = 16 << 10;

    private static final String PREFIX = "output.";
    private static final int LONGEST_TIME = 18;

    private final Path container;
    private final byte[] block = new byte[LONGEST_PIECE];
    private int position; // in the block
    private int limit; // of the block
    private @Nullable InputStream file;
    private long number = -1; // of the open file

    private LinePart part = LinePart.TIME;
    private int digits; // of the time of the file's line so far
    private long read; // the time of the file's line so far
    private boolean plus; // behind that time
    private boolean continues; // the file's line before had a plus
    private long hundredths; // the time of the line
    private boolean begins = true; // no piece of the line was returned yet
    private @Nullable OutputLine ending; // to be returned first

    /** Where in a line of the file the next byte is. */
    private enum LinePart {
        TIME,
        TEXT,
        DAMAGED
    }

    /** Opens the oldest file, if there is one. */
    OutputFiles(Path container) throws IOException {
        this.container = container;
        openNext();
    }

    /** Returns the number of bytes in the files. */
    static long size(Path container) throws IOException {
        long size = 0;
        for (long number : numbers(container)) {
            try {
                size += Files.size(container.resolve(PREFIX + number));
            } catch (NoSuchFileException deleted) {
                // the output was rotated
            }
        }
        return size;
    }

    /** Returns the next piece of a line; empty if there is none now. */
    Optional<OutputLine> next() throws IOException {
        OutputLine piece = null;
        while (piece == null) {
            if (ending != null) {
                piece = ending;
                ending = null;
            } else if (position < limit || fill()) {
                piece = inBlock();
            } else if (!openNext()) {
                return Optional.empty();
            }
        }
        return Optional.of(piece);
    }

    private boolean fill() throws IOException {
        position = 0;
        limit = file == null ? 0 : Math.max(0, file.read(block));
        return limit > 0;
    }

    /** Reads on in the block, at least one byte. Returns the next piece; null if there is none yet. */
    private @Nullable OutputLine inBlock() {
        switch (part) {
            case TIME -> inTime(block[position++]);
            case TEXT -> {
                return inText();
            }
            case DAMAGED -> {
                position = Math.min(limit, lineBreak() + 1);
                if (block[position - 1] == '\n') {
                    startLine();
                }
            }
        }
        return null;
    }

    private void inTime(byte next) {
        if (next >= '0' && next <= '9' && digits < LONGEST_TIME && !plus) {
            read = read * 10 + next - '0';
            digits++;
        } else if (next == '+' && digits > 0 && !plus) {
            plus = true;
        } else if (next == ' ' && digits > 0) {
            part = LinePart.TEXT;
            hundredths = continues ? hundredths : read;
        } else if (next == '\n') {
            startLine();
        } else {
            part = LinePart.DAMAGED;
        }
    }

    private void startLine() {
        part = LinePart.TIME;
        digits = 0;
        read = 0;
        plus = false;
    }

    private @Nullable OutputLine inText() {
        int end = lineBreak();
        byte[] text = Arrays.copyOfRange(block, position, end);
        boolean last = end < limit && !plus;
        position = Math.min(limit, end + 1);
        if (end < limit) {
            continues = plus;
            startLine();
        }
        return text.length == 0 && !last ? null : piece(text, last);
    }

    private OutputLine piece(byte[] text, boolean last) {
        OutputLine piece = new OutputLine(OutputLine.time(hundredths), text, begins, last);
        begins = last;
        return piece;
    }

    /** Returns where the line of the block ends; the end of the block if it goes on. */
    private int lineBreak() {
        int end = position;
        while (end < limit && block[end] != '\n') {
            end++;
        }
        return end;
    }

    /** Opens the file after the current one, which was read to its end. Returns false if there is no such file. */
    private boolean openNext() throws IOException {
        Optional<Long> following =
                numbers(container).stream().filter(each -> each > number).findFirst();
        if (following.isEmpty()) {
            return false;
        }
        if (file != null && file.available() > 0) {
            // written after the end was read and before the next file was created
            return true;
        }
        close();
        try {
            file = Files.newInputStream(container.resolve(PREFIX + following.get()));
        } catch (NoSuchFileException deleted) {
            file = null;
        }
        boolean joined = continues && part == LinePart.TIME && following.get() == number + 1;
        if (!joined) {
            // the disk was full, or files between were deleted: what follows is another line
            continues = false;
            ending = begins ? null : piece(new byte[0], true);
        }
        startLine();
        number = following.get();
        return true;
    }

    /** Returns the numbers of the files, in order. */
    static List<Long> numbers(Path container) throws IOException {
        try (Stream<Path> files = Files.list(container)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.startsWith(PREFIX))
                    .map(name -> Longs.tryParse(name.substring(PREFIX.length())))
                    .filter(Objects::nonNull)
                    .sorted()
                    .toList();
        } catch (NoSuchFileException forgotten) {
            return List.of();
        }
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }
}
