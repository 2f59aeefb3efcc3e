package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.TcpProxy;
import java.io.EOFException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that asks for no more streams (GOAWAY) as soon as a connection is there. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class GoAwayTest extends WireFixture {

    private static final int LIMIT = 5;
    private static final Duration PING_PERIOD = Duration.ofSeconds(10);

    /** What the server sends GOAWAY with, in one TLS record. */
    enum Together {
        /** It still handles what comes before its second GOAWAY, as a server that shuts down does. */
        GRACEFULLY_WITH_SETTINGS(Integer.MAX_VALUE, 1),
        WITH_SETTINGS(0, 0),
        WITH_THE_FIRST_ANSWER(1, 1);

        private final int lastStream;
        private final int answered;

        Together(int lastStream, int answered) {
            this.lastStream = lastStream;
            this.answered = answered;
        }
    }

    /** Sends GOAWAY on the first connection, and answers nothing there but the first request, if at all. */
    private record SendsGoAway(Together together) implements FrameServer.FrameScript {

        @Override
        public Frames greeting(FrameServer.FrameConnection connection) {
            Frames settings = new Frames().settingsWithLimit(LIMIT);
            boolean goesAway = connection.number == 0 && together != Together.WITH_THE_FIRST_ANSWER;
            return goesAway ? settings.goAway(together.lastStream) : settings;
        }

        @Override
        public Frames answer(FrameServer.FrameConnection connection, int stream, String path) {
            if (connection.number == 0 && stream > together.answered) {
                return new Frames();
            }
            Frames answer = path.contains("watch=true")
                    ? new Frames().headers(stream)
                    : new Frames().answer(stream, WireServer.listOf("configmaps", "", ""));
            boolean goesAway = connection.number == 0 && together == Together.WITH_THE_FIRST_ANSWER;
            return goesAway ? answer.goAway(together.lastStream) : answer;
        }
    }

    @ParameterizedTest
    @EnumSource(Together.class)
    void goAwayAtOnce_requestsAfterIt_goOverANewConnection(Together together) throws InterruptedException {
        FrameServer server = closeLater(new FrameServer(new SendsGoAway(together)));
        connect(config(server.url()).build());

        answerOf(make(RequestKind.WATCH, "first"));
        answerOf(make(RequestKind.LIST, "second"));

        assertThat(server.connections).hasSize(2);
    }

    /** Wants no stream on any connection. */
    private record WantsNothing() implements FrameServer.FrameScript {

        @Override
        public Frames greeting(FrameServer.FrameConnection connection) {
            return new Frames().settingsWithLimit(LIMIT).goAway(0);
        }

        @Override
        public Frames answer(FrameServer.FrameConnection connection, int stream, String path) {
            return new Frames();
        }
    }

    /** Otherwise each request opens six connections, one right after the other. */
    @Test
    void goAwayAtOnceOnEveryConnection_isDialledAsAServerThatIsNotReached() {
        FrameServer server = closeLater(new FrameServer(new WantsNothing()));
        ManualTimekeeper time = new ManualTimekeeper();
        connect(config(server.url()).build(), time);
        List<CompletableFuture<?>> requests = new ArrayList<>();
        AtomicLong seconds = new AtomicLong();

        await().until(() -> {
            if (requests.size() < 30) {
                requests.add(make(RequestKind.GET, "object"));
            }
            time.advance(Duration.ofSeconds(1));
            seconds.incrementAndGet();
            return requests.size() == 30 && requests.stream().allMatch(CompletableFuture::isDone);
        });

        assertThat(requests).allMatch(CompletableFuture::isCompletedExceptionally);
        // twice a second in the first minute, then after pauses of 5 s at least, once they have grown
        long first = Math.min(60, seconds.get());
        assertThat(server.connections).hasSizeBetween(2, (int) (2 * first + (seconds.get() - first) / 5) + 8);
    }

    /** Takes a request, says so in its GOAWAY, and dies. Answers on any later connection. */
    private record TakesOneAndDies() implements FrameServer.FrameScript {

        @Override
        public Frames greeting(FrameServer.FrameConnection connection) {
            return new Frames().settingsWithLimit(LIMIT);
        }

        @Override
        public Frames answer(FrameServer.FrameConnection connection, int stream, String path) {
            if (connection.number > 0) {
                return new Frames().answer(stream, "{}");
            }
            connection.send(new Frames().goAway(stream));
            throw new UncheckedIOException(new EOFException("the server dies"));
        }
    }

    @Test
    void goAwayThatCoversAWrite_connectionEnds_writeFailsAndIsNotSentAgain() {
        FrameServer server = closeLater(new FrameServer(new TakesOneAndDies()));
        connect(config(server.url()).build());

        CompletableFuture<?> write = make(RequestKind.PATCH, "first");

        assertThat(write).failsWithin(Duration.ofSeconds(Patience.SECONDS));
        assertThat(server.paths).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(Together.class)
    void goAwayAtOnce_newConnectionFreezes_itsWatchEnds(Together together, NoLeaks leaks) throws InterruptedException {
        leaks.allowWarnings("ping");
        FrameServer server = closeLater(new FrameServer(new SendsGoAway(together)));
        TcpProxy proxy = closeLater(TcpProxy.to(server.port()));
        ManualTimekeeper time = new ManualTimekeeper();
        connect(config("https://127.0.0.1:" + proxy.port()).build(), time);
        answerOf(make(RequestKind.WATCH, "first"));
        CompletableFuture<Object> ended = new CompletableFuture<>();
        answerOf(watch("second", ended::complete));

        proxy.freeze();

        await().until(() -> {
            time.advance(PING_PERIOD);
            return ended.isDone();
        });
    }
}
