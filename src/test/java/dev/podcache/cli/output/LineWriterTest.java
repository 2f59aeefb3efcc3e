package dev.podcache.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class LineWriterTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final LineWriter writer = new LineWriter(
            new PrintStream(bytes, true, StandardCharsets.UTF_8), tasks::add, 2, dropped -> dropped + " dropped");

    @Test
    void print_readerPauses_returnsAtOnce() {
        writer.print("a");
        writer.print("b");

        assertThat(tasks).hasSize(1);
        assertThat(lines()).isEmpty();
    }

    @Test
    void print_readerGoesOn_printsInOrder() {
        writer.print("a");
        writer.print("b");
        printAll();
        writer.print("c");
        printAll();

        assertThat(lines()).containsExactly("a", "b", "c");
    }

    @Test
    void print_moreThanMayWait_isOneGapWithItsNumber() {
        writer.print("a");
        writer.print("b");
        writer.print("lost");
        writer.print("lost too");
        printAll();
        writer.print("c");
        printAll();

        assertThat(lines()).containsExactly("a", "b", "2 dropped", "c");
    }

    @Test
    void drain_nothingToPrint_returnsAtOnce() {
        writer.print("a");
        printAll();

        writer.drain();

        assertThat(lines()).containsExactly("a");
    }

    @Test
    void drain_interrupted_returnsAndStaysSo() {
        writer.print("a");
        Thread.currentThread().interrupt();

        writer.drain();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(lines()).isEmpty();
    }

    @Test
    void print_closed_isNothing() {
        writer.close();

        writer.print("late");

        assertThat(tasks).isEmpty();
    }

    @Test
    void print_nobodyReads_dropsWhatWaitsAndTellsIt() {
        LineWriter unread = new LineWriter(new PrintStream(new ClosedPipe(), true), tasks::add, 2, dropped -> "gap");
        unread.print("a");
        unread.print("b");
        unread.print("c");
        printAll();

        unread.drain();

        assertThat(unread.broken()).isCompleted();
    }

    private void printAll() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    private List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static final class ClosedPipe extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
        }
    }
}
