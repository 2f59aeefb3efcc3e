package dev.podcache.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

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

@ExtendWith(NoLeaks.class)
class AccountTest {

    private static final Event EVENT = new Event("changed", "Secret shop/db", ImmutableMap.of("object", "shop/db"));

    @Test
    void begin_timeThatPassedBefore_doesNotCount() {
        RecordedAccount recorded = RecordedAccount.ofText();
        recorded.advance(5);

        recorded.account().begin();
        recorded.advance(2);

        assertThat(recorded.account().seconds()).isEqualTo(2);
    }

    @Test
    void tell_text_isTimeNameAndText() {
        RecordedAccount recorded = RecordedAccount.ofText();
        recorded.advance(12.34);

        recorded.account().tell(EVENT);

        assertThat(recorded.lines()).containsExactly("  12.3s  changed      Secret shop/db");
    }

    @Test
    void tell_json_isOneObjectWithTheFacts() {
        RecordedAccount recorded = RecordedAccount.ofJson();
        recorded.advance(12.3456);

        recorded.account().tell(EVENT);

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"changed\",\"seconds\":12.346,\"object\":\"shop/db\"}");
    }

    @Test
    void heading_text_standsApart() {
        RecordedAccount recorded = RecordedAccount.ofText();

        recorded.account().heading("A pod comes.");

        assertThat(recorded.lines()).containsExactly("", "-- A pod comes.");
    }

    @Test
    void heading_json_isAnEventToo() {
        RecordedAccount recorded = RecordedAccount.ofJson();

        recorded.account().heading("A pod comes.");

        assertThat(recorded.lines())
                .containsExactly("{\"event\":\"act\",\"seconds\":0.000,\"title\":\"A pod comes.\"}");
    }

    @Test
    void block_text_isTheTextAlone() {
        RecordedAccount recorded = RecordedAccount.ofText();

        recorded.account().block(new Event("summary", "one\ntwo", ImmutableMap.of()));

        assertThat(recorded.lines()).containsExactly("one", "two");
    }

    @Test
    void broken_readerWentAway_isTold() {
        Account account = Account.direct(new PrintStream(new ClosedPipe(), true), Account.Format.TEXT, () -> 0);

        account.tell(EVENT);

        assertThat(account.broken()).isCompleted();
    }

    @Test
    void broken_everythingWasWritten_isNotTold() {
        RecordedAccount recorded = RecordedAccount.ofText();

        recorded.account().tell(EVENT);

        assertThat(recorded.account().broken()).isNotDone();
    }

    @Test
    void tell_readerWhoPauses_keepsNobodyWaitingAndMissesNothing() throws InterruptedException {
        PausedReader reader = new PausedReader();
        try (Account account = Account.unhurried(new PrintStream(reader, true), Account.Format.TEXT, () -> 0)) {
            account.tell(EVENT);
            reader.awaitPause();
            account.tell(EVENT);
            account.tell(EVENT);

            reader.goOn();
            account.block(new Event("summary", "the end", ImmutableMap.of()));
        }

        assertThat(reader.text().lines()).hasSize(4).last().isEqualTo("the end");
    }

    @Test
    void tell_moreThanCanWait_saysHowManyLinesWereDropped() throws InterruptedException {
        PausedReader reader = new PausedReader();
        try (Account account = Account.unhurried(new PrintStream(reader, true), Account.Format.JSON, () -> 0)) {
            account.tell(EVENT);
            reader.awaitPause();
            for (int i = 0; i < 10_003; i++) {
                account.tell(EVENT);
            }

            reader.goOn();
            account.block(new Event("summary", "the end", ImmutableMap.of()));
        }

        assertThat(reader.text().lines())
                .hasSize(10_003)
                .contains("{\"event\":\"dropped\",\"seconds\":0.000,\"lines\":3}")
                .last()
                .isEqualTo("{\"event\":\"summary\",\"seconds\":0.000}");
    }

    /** Reads nothing until told to. */
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
