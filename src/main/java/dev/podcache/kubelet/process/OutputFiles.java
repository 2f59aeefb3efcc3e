package dev.podcache.kubelet.process;

import com.google.common.primitives.Longs;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lines of the files {@code output.<n>} of a container, in order, while {@code supervise.sh} may write further
 * ones. Not thread-safe.
 */
final class OutputFiles implements Closeable {

    private static final String PREFIX = "output.";

    private final Path container;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private @Nullable InputStream file;
    private long number = -1; // of the open file

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

    /** Returns the next complete line; empty if there is none now. */
    Optional<OutputLine> next() throws IOException {
        while (true) {
            byte[] complete = readLine();
            if (complete == null && openNext()) {
                continue;
            }
            if (complete == null) {
                return Optional.empty();
            }
            Optional<OutputLine> parsed = OutputLine.parse(complete);
            if (parsed.isPresent()) {
                return parsed;
            }
        }
    }

    private byte @Nullable [] readLine() throws IOException {
        if (file == null) {
            return null;
        }
        for (int next = file.read(); next >= 0; next = file.read()) {
            if (next == '\n') {
                byte[] complete = line.toByteArray();
                line.reset();
                return complete;
            }
            line.write(next);
        }
        return null;
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
            file = new BufferedInputStream(Files.newInputStream(container.resolve(PREFIX + following.get())));
        } catch (NoSuchFileException deleted) {
            file = null;
        }
        number = following.get();
        line.reset();
        return true;
    }

    private static List<Long> numbers(Path container) throws IOException {
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
