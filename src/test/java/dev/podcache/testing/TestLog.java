package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What the tests of a JVM log and print: in a file for each class, and the last lines of the current test in memory, to
 * be shown if it fails. Thread-safe.
 */
final class TestLog {

    /** How much of a class is written; of what follows, only the last lines of a failed test are. */
    static final long MOST_BYTES = 4 << 20;

    /** How many lines of a failed test are shown. */
    static final int LAST = 300;

    /** How many failures of a JVM are shown with their lines: if all fail, the first ones tell why. */
    static final int SHOWN = 10;

    private final Path folder;
    private final PrintStream console;

    private final Deque<String> last = new ArrayDeque<>(); // guarded by this
    private String name = ""; // of the class; guarded by this
    private @Nullable OutputStream out; // null before the first class; guarded by this
    private long written; // guarded by this
    private int shown; // guarded by this

    /**
     * Creates a log.
     *
     * @param folder for the files; it need not exist
     * @param console where failures are shown
     */
    TestLog(Path folder, PrintStream console) {
        this.folder = folder;
        this.console = console;
    }

    /** Begins the file of a class, unless it is the current one. */
    synchronized void beginClass(String className) {
        if (className.equals(name)) {
            return;
        }
        try {
            close();
            Files.createDirectories(folder);
            out = Files.newOutputStream(file(className));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        name = className;
        written = 0;
        last.clear();
    }

    /** Begins a test of the class. */
    synchronized void beginTest(String test) {
        last.clear();
        add("--- " + test);
    }

    /** Adds a text of one or more lines. */
    synchronized void add(String text) {
        text.lines().forEach(this::addLine);
    }

    private void addLine(String text) {
        last.addLast(text);
        if (last.size() > LAST) {
            last.removeFirst();
        }
        if (written > MOST_BYTES) {
            return;
        }
        write(text);
        if (written > MOST_BYTES) {
            write("... the rest is left out");
        }
    }

    /** Shows a failure, with the last lines of its test. */
    void failed(String test, Throwable failure) {
        String text;
        synchronized (this) {
            text = describe(test, failure);
        }
        // in one piece, as other JVMs write to the console too
        console.print(text);
        console.flush();
    }

    /** Returns a stream that adds each line to this log. */
    PrintStream stream() {
        return new PrintStream(new PrintedLines(), false, UTF_8);
    }

    private String describe(String test, Throwable failure) {
        StringBuilder text = new StringBuilder(String.format("%n*** %s.%s failed:%n", name, test));
        text.append(Canary.textOf(failure));
        shown++;
        if (name.isEmpty() || shown > SHOWN) {
            return text.toString();
        }
        text.append(String.format("--- the last lines of its log; all are in %s%n", file(name)));
        last.forEach(line -> text.append(line).append('\n'));
        text.append(String.format("--- end of the log of %s.%s%n", name, test));
        if (written > MOST_BYTES) {
            write("... the last lines of " + test + ", which failed:");
            last.forEach(this::write);
        }
        return text.toString();
    }

    private void write(String text) {
        OutputStream file = out;
        if (file == null) {
            return;
        }
        byte[] bytes = (text + "\n").getBytes(UTF_8);
        written += bytes.length;
        try {
            file.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path file(String className) {
        return folder.resolve(className + ".log");
    }

    private void close() throws IOException {
        OutputStream file = out;
        if (file != null) {
            file.close();
        }
    }

    /** Cuts what is printed into lines. A PrintStream calls it under its lock. */
    private final class PrintedLines extends OutputStream {

        private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

        @Override
        public void write(int b) {
            if (b == '\n') {
                add(begun.toString(UTF_8));
                begun.reset();
            } else if (b != '\r') {
                begun.write(b);
            }
        }
    }
}
