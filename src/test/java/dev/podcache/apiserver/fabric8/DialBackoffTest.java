package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TcpProxy;
import io.vertx.core.http.HttpVersion;
import java.time.Duration;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** After a failed attempt to connect, no connection is dialled for a while; the test controls the time. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class DialBackoffTest extends WireFixture {

    /** More than the first back-off, whatever its jitter. */
    private static final Duration AFTER_THE_FIRST = Duration.ofMillis(1500);

    private final WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
    private final TcpProxy proxy = closeLater(TcpProxy.to(server.port()));
    private final ManualTimekeeper time = new ManualTimekeeper();

    @BeforeEach
    void connect() {
        connect(config("https://127.0.0.1:" + proxy.port()).build(), time);
    }

    @ParameterizedTest
    @EnumSource(
            value = RequestKind.class,
            names = {"GET", "LIST", "WATCH", "PATCH"})
    void connectionFailed_requestsInTheBackOff_failAtOnceWithoutDialling(RequestKind call) throws InterruptedException {
        proxy.refuse(true);
        assertThat(failureOf(make(RequestKind.LIST, "first")).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        int dials = proxy.accepted();

        for (int i = 0; i < 10; i++) {
            assertThat(failureOf(make(call, "object-" + i)).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        }

        assertThat(proxy.accepted()).isEqualTo(dials);
    }

    @Test
    void serverIsBack_requestAfterTheBackOff_isAnsweredAndEndsIt() throws InterruptedException {
        proxy.refuse(true);
        failureOf(make(RequestKind.LIST, "first"));
        proxy.refuse(false);
        time.advance(AFTER_THE_FIRST);

        answerOf(make(RequestKind.LIST, "second"));

        for (RequestKind call : RequestKind.values()) {
            answerOf(make(call, "third"));
        }
    }

    @Test
    void manyFailuresAndASuccess_nextBackOff_isAsShortAsTheFirst() throws InterruptedException {
        proxy.refuse(true);
        for (int i = 0; i < 6; i++) {
            failureOf(make(RequestKind.LIST, "failing-" + i));
            time.advance(Duration.ofMinutes(1));
        }
        proxy.refuse(false);
        answerOf(make(RequestKind.LIST, "answered"));
        proxy.refuse(true);
        proxy.reset();
        await().until(() -> !succeeds(RequestKind.LIST));

        proxy.refuse(false);
        time.advance(AFTER_THE_FIRST);

        answerOf(make(RequestKind.LIST, "again"));
    }

    @Test
    void connectionsLost_serverIsThere_requestIsAnsweredAtOnce() throws InterruptedException {
        answerOf(make(RequestKind.LIST, "first"));
        proxy.reset();
        await().until(() -> proxy.connections().isEmpty());

        // the client may learn of the loss only now
        await().until(() -> succeeds(RequestKind.LIST));
    }

    private boolean succeeds(RequestKind call) throws InterruptedException {
        try {
            answerOf(make(call, "second"));
            return true;
        } catch (AssertionError failed) {
            return false;
        }
    }
}
