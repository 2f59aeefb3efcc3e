package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that refuses streams on one connection, which means that it has not begun to handle them (RFC 9113, 8.7). */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class RefusedStreamTest extends WireFixture {

    private static final int LIMIT = 100;

    /** Refuses streams from the second on, as many as it is told. */
    private static final class RefusesSome implements FrameServer.FrameScript {

        private final AtomicInteger refusals;

        RefusesSome(int refusals) {
            this.refusals = new AtomicInteger(refusals);
        }

        @Override
        public Frames greeting(FrameServer.FrameConnection connection) {
            return new Frames().settingsWithLimit(LIMIT);
        }

        @Override
        public Frames answer(FrameServer.FrameConnection connection, int stream, String path) {
            if (stream > 1 && refusals.getAndDecrement() > 0) {
                return new Frames().reset(stream, Frames.REFUSED_STREAM);
            }
            if (path.contains("watch=true")) {
                return new Frames().headers(stream);
            }
            return new Frames().answer(stream, WireServer.listOf("configmaps", "", ""));
        }
    }

    /** H13: one refused stream retired a connection of 999 other streams. */
    @ParameterizedTest
    @EnumSource(
            value = RequestKind.class,
            names = {"LIST", "WATCH"})
    void streamRefused_request_isSentAgainOverTheSameConnection(RequestKind call) throws InterruptedException {
        FrameServer server = closeLater(new FrameServer(new RefusesSome(1)));
        connect(config(server.url()).build());
        answerOf(make(RequestKind.WATCH, "first"));

        answerOf(make(call, "object"));

        assertThat(server.connections).hasSize(1);
    }

    /** A15: without pauses, 300 objects made 1,824 requests in 2 s. */
    @Test
    void streamsRefused_request_isSentAgainAfterPausesAndFails() throws InterruptedException {
        FrameServer server = closeLater(new FrameServer(new RefusesSome(Integer.MAX_VALUE)));
        ManualTimekeeper time = new ManualTimekeeper();
        Collection<Duration> timers = new ConcurrentLinkedQueue<>();
        connect(config(server.url()).build(), new ForwardingTimekeeper(time) {
            @Override
            public Scheduled schedule(Duration delay, Runnable task) {
                Scheduled scheduled = super.schedule(delay, task);
                timers.add(delay);
                return scheduled;
            }
        });
        answerOf(make(RequestKind.WATCH, "first"));

        CompletableFuture<?> list = make(RequestKind.LIST, "object");

        for (int sent = 3; sent <= 6; sent++) {
            Duration pause = Duration.ofSeconds(1L << (sent - 3));
            await().until(() -> timers.contains(pause));
            assertThat(server.paths).hasSize(sent);
            time.advance(pause);
        }
        assertThat(failureOf(list)).hasMessageContaining("HTTP/2 error 7");
        assertThat(server.paths).hasSize(7);
        assertThat(server.connections).hasSize(1);
    }
}
