package dev.podcache.cli.output;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;

/** Tells why the standard output of this process failed. */
public final class StandardOutput {

    private static final String PIPE_WITHOUT_READER = "Broken pipe";

    private StandardOutput() {}

    /**
     * Returns whether the output failed because its reader has left, as {@code head} does once it has seen enough. That
     * is no failure of the command. A {@code PrintStream} keeps no reason, so this writes a line break once more, which
     * nobody reads.
     *
     * @param out of a console; false if it is not that of this process
     */
    public static boolean lostItsReader(PrintStream out) {
        if (out != System.out || !out.checkError()) {
            return false;
        }
        try {
            // not closed: it is the output of the whole process
            new FileOutputStream(FileDescriptor.out).write('\n');
            return false;
        } catch (IOException e) {
            return String.valueOf(e.getMessage()).contains(PIPE_WITHOUT_READER);
        }
    }
}
