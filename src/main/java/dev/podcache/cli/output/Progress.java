package dev.podcache.cli.output;

import java.util.function.LongSupplier;

/**
 * Shows on a terminal how far a command is that takes over two seconds: one line on standard error, which is overwritten.
 * Used by one thread.
 */
public final class Progress {

    private static final long QUIET_NANOS = 2_000_000_000;

    private final Console console;
    private final LongSupplier nanoTime;
    private final long began;
    private int width;

    /** Creates a progress that begins now. */
    public Progress(Console console) {
        this(console, System::nanoTime);
    }

    Progress(Console console, LongSupplier nanoTime) {
        this.console = console;
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
    }

    /** Shows how far the command is, unless it has just begun or nobody looks. */
    public void show(String text) {
        if (console.terminal() && nanoTime.getAsLong() - began >= QUIET_NANOS) {
            clear();
            console.err().print(text);
            console.err().flush();
            width = text.length();
        }
    }

    /** Removes the line. */
    public void clear() {
        if (width > 0) {
            console.err().print("\r" + " ".repeat(width) + "\r");
            console.err().flush();
            width = 0;
        }
    }
}
