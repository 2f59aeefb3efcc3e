package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

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
        Account account = new Account(new PrintStream(new ClosedPipe(), true), Account.Format.TEXT, () -> 0);

        account.tell(EVENT);

        assertThat(account.broken()).isCompleted();
    }

    @Test
    void broken_everythingWasWritten_isNotTold() {
        RecordedAccount recorded = RecordedAccount.ofText();

        recorded.account().tell(EVENT);

        assertThat(recorded.account().broken()).isNotDone();
    }

    private static final class ClosedPipe extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
        }
    }
}
