package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ObjectUnavailableExceptionTest {

    private static final ObjectKey KEY = ObjectKey.of("shop", "db");
    private final Exception failure = new IllegalStateException("no connection to https://10.0.0.1");

    @Test
    void facts_anyMember_areKindAndKey() {
        ObjectUnavailableException closed = new Closed(ObjectKind.SECRET, KEY);

        assertThat(closed.kind()).isSameAs(ObjectKind.SECRET);
        assertThat(closed.key()).isEqualTo(KEY);
    }

    @Test
    void notRegistered_message_saysWhatToDo() {
        assertThat(new NotRegistered(ObjectKind.CONFIG_MAP, KEY))
                .hasMessage(
                        "ConfigMap shop/db is not registered: no registered pod refers to it; register the pod, or another"
                                + " owner that needs it, before reading it; what an owner on behalf of a subject needs is read with that owner");
    }

    @Test
    void notFound_byTheServersAnswer_hasNoCause() {
        assertThat(new NotFound(ObjectKind.SECRET, KEY, null))
                .hasMessage("Secret shop/db not found")
                .hasNoCause();
    }

    @Test
    void notFound_lastCheckFailed_saysSo() {
        assertThat(new NotFound(ObjectKind.SECRET, KEY, failure))
                .hasMessage("Secret shop/db not found in the last answer; checking again failed: no connection to"
                        + " https://10.0.0.1")
                .hasCause(failure);
    }

    @Test
    void notFound_everydayAnswer_hasNoStackTrace() {
        assertThat(new NotFound(ObjectKind.SECRET, KEY, null).getStackTrace()).isEmpty();
    }

    @Test
    void notSynced_withoutAFailure_saysThatNobodyAnswered() {
        assertThat(new NotSynced(ObjectKind.SECRET, KEY, FailureReason.TIMEOUT, Duration.ofSeconds(1), null))
                .hasMessage(
                        "Secret shop/db not synced within 1000 ms: no answer yet; get it again, or allow a longer firstSyncTimeout");
    }

    @Test
    void notSynced_afterAFailure_tellsIt() {
        assertThat(new NotSynced(ObjectKind.SECRET, KEY, FailureReason.FORBIDDEN, Duration.ofMillis(250), failure))
                .hasMessage("Secret shop/db not synced within 250 ms: no connection to https://10.0.0.1")
                .hasCause(failure);
    }

    @Test
    void fetchFailed_answered_carriesTheFacts() {
        FetchFailed failed =
                new FetchFailed(ObjectKind.SECRET, KEY, FailureReason.THROTTLED, 429, Duration.ofSeconds(3), failure);

        assertThat(failed.reason()).isEqualTo(FailureReason.THROTTLED);
        assertThat(failed.httpCode()).hasValue(429);
        assertThat(failed.retryAfter()).contains(Duration.ofSeconds(3));
        assertThat(failed)
                .hasMessage("Secret shop/db could not be fetched: THROTTLED, no connection to https://10.0.0.1")
                .hasCause(failure);
    }

    @Test
    void fetchFailed_notAnswered_hasNoCodeAndNoRetryAfter() {
        FetchFailed failed = new FetchFailed(ObjectKind.SECRET, KEY, FailureReason.TIMEOUT, 0, null, null);

        assertThat(failed.httpCode()).isEmpty();
        assertThat(failed.retryAfter()).isEmpty();
        assertThat(failed).hasMessage("Secret shop/db could not be fetched: TIMEOUT");
    }

    @Test
    void fetchFailed_causeWithoutMessage_isNotQuoted() {
        assertThat(new FetchFailed(
                        ObjectKind.SECRET, KEY, FailureReason.INTERRUPTED, 0, null, new InterruptedException()))
                .hasMessage("Secret shop/db could not be fetched: INTERRUPTED");
    }

    @Test
    void closed_message_saysThatTheCacheIs() {
        assertThat(new Closed(ObjectKind.SECRET, KEY)).hasMessage("Secret shop/db was not read: the cache is closed");
    }
}
