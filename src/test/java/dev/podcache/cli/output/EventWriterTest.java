package dev.podcache.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableMap;
import dev.podcache.testing.NoLeaks;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class EventWriterTest {

    private static final ProgramEvent EVENT = ProgramEvent.of("changed", "object", "Secret shop/db");
    private static final ProgramEvent END = new ProgramEvent("summary", "the end", ImmutableMap.of());

    @Test
    void write_text_isTimeNameAndText() {
        RecordedOutput recorded = RecordedOutput.ofText();
        recorded.advance(12.34);

        recorded.events().write(EVENT);

        assertThat(recorded.lines()).containsExactly("  12.3s  changed      Secret shop/db");
    }

    /** The message of a waiting container quotes fields of its pod. */
    @Test
    void write_textWithLineBreaksAndEscapes_isOneLineThatSteersNoTerminal() {
        RecordedOutput recorded = RecordedOutput.ofText();

        recorded.events().write(ProgramEvent.of("pod", "message", "a\nb\u001b[2J" + "x".repeat(400)));

        assertThat(recorded.lines()).containsExactly("   0.0s  pod          a b [2J" + "x".repeat(400));
    }

    @Test
    void write_json_isOneObjectWithTheFacts() {
        RecordedOutput recorded = RecordedOutput.ofJson();
        recorded.advance(12.3456);

        recorded.events().write(EVENT);

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"changed\",\"seconds\":12.346,\"object\":\"Secret shop/db\"}");
    }

    @Test
    void heading_text_standsApart() {
        RecordedOutput recorded = RecordedOutput.ofText();

        recorded.events().heading("A pod is created.");

        assertThat(recorded.lines()).containsExactly("", "-- A pod is created.");
    }

    @Test
    void heading_json_isAnEventToo() {
        RecordedOutput recorded = RecordedOutput.ofJson();

        recorded.events().heading("A pod is created.");

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"act\",\"seconds\":0.000,\"title\":\"A pod is created.\"}");
    }

    @Test
    void block_text_isTheTextAlone() {
        RecordedOutput recorded = RecordedOutput.ofText();

        recorded.events().block(new ProgramEvent("summary", "one\ntwo", ImmutableMap.of()));

        assertThat(recorded.lines()).containsExactly("one", "two");
    }

    @Test
    void write_readerIsGone_isReportedAndNothingBlocks() {
        try (EventWriter events = EventWriter.to(new PrintStream(new ClosedPipe(), true), EventWriter.Format.TEXT)) {
            for (int i = 0; i < 20_000; i++) {
                events.write(EVENT);
            }
            events.block(END);

            assertThat(events.broken()).isCompleted();
            assertThatThrownBy(events::requireReader)
                    .isInstanceOf(CommandException.class)
                    .hasMessageContaining("standard output cannot be written");
        }
    }

    @Test
    void broken_everythingWasWritten_isNotDone() {
        RecordedOutput recorded = RecordedOutput.ofText();

        recorded.events().write(EVENT);

        assertThat(recorded.events().broken()).isNotDone();
        recorded.events().requireReader();
    }

    @Test
    void write_slowReader_blocksNobodyAndMissesNothing() throws InterruptedException {
        PausedReader reader = new PausedReader();
        try (EventWriter events = EventWriter.to(new PrintStream(reader, true), EventWriter.Format.TEXT)) {
            events.write(EVENT);
            reader.awaitPause();
            events.write(EVENT);
            events.write(EVENT);

            reader.goOn();
            events.block(END);
        }

        assertThat(reader.text().lines()).hasSize(4).last().isEqualTo("the end");
    }

    @Test
    void write_moreThanCanWait_reportsHowManyLinesWereDropped() throws InterruptedException {
        PausedReader reader = new PausedReader();
        try (EventWriter events = EventWriter.to(new PrintStream(reader, true), EventWriter.Format.JSON)) {
            events.write(EVENT);
            reader.awaitPause();
            for (int i = 0; i < 10_003; i++) {
                events.write(EVENT);
            }

            reader.goOn();
            events.block(END);
        }

        assertThat(reader.text().lines()).hasSize(10_003);
        assertThat(reader.text().lines().map(line -> line.replaceAll("\"seconds\":[0-9.]+", "")))
                .contains("{\"event\":\"dropped\",,\"lines\":3}")
                .last()
                .isEqualTo("{\"event\":\"summary\",}");
    }

    @Test
    void block_interruptedWhileTheReaderPauses_returnsInterrupted() throws InterruptedException {
        PausedReader reader = new PausedReader();
        try (EventWriter events = EventWriter.to(new PrintStream(reader, true), EventWriter.Format.TEXT)) {
            events.write(EVENT);
            reader.awaitPause();
            Thread.currentThread().interrupt();

            events.block(END);

            assertThat(Thread.interrupted()).isTrue();
            reader.goOn();
        }
        assertThat(reader.text().lines()).hasSize(2);
    }

    @Test
    void write_closed_isIgnored() {
        RecordedOutput recorded = RecordedOutput.ofText();
        recorded.events().close();

        recorded.events().write(EVENT);

        assertThat(recorded.lines()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, under 1 ms", "0.0034, 3 ms", "0.9994, 999 ms", "0.9996, 1.00 s", "12.345, 12.35 s"})
    void seconds_anyTime_isInItsUnit(double seconds, String text) {
        assertThat(Seconds.text(seconds)).isEqualTo(text);
    }

    /** Does not read until {@link #goOn}. */
    private static final class PausedReader extends ByteArrayOutputStream {

        private final CountDownLatch paused = new CountDownLatch(1);
        private final CountDownLatch going = new CountDownLatch(1);

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) {
            paused.countDown();
            try {
                going.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            super.write(bytes, offset, length);
        }

        void awaitPause() throws InterruptedException {
            assertThat(paused.await(60, TimeUnit.SECONDS)).isTrue();
        }

        void goOn() {
            going.countDown();
        }

        String text() {
            return toString(StandardCharsets.UTF_8);
        }
    }

    private static final class ClosedPipe extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
        }
    }
}
