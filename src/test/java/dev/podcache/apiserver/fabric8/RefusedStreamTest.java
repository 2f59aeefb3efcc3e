package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that refuses streams on one connection, which means that it has not begun to handle them (RFC 9113, 8.7). */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class RefusedStreamTest extends WireFixture {

    private static final int LIMIT = 100;

    /** Refuses every stream on the first connection. */
    private static final class RefusesFirst implements FrameServer.FrameScript {

        @Override
        public Frames greeting(FrameServer.FrameConnection connection) {
            return new Frames().settingsWithLimit(LIMIT);
        }

        @Override
        public Frames answer(FrameServer.FrameConnection connection, int stream, String path) {
            if (connection.number == 0) {
                return new Frames().reset(stream, Frames.REFUSED_STREAM);
            }
            if (path.contains("watch=true")) {
                return new Frames().headers(stream);
            }
            return new Frames().answer(stream, WireServer.listOf("configmaps", "", ""));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = RequestKind.class,
            names = {"LIST", "WATCH"})
    void streamRefused_request_isSentAgainOverAnotherConnection(RequestKind call) throws InterruptedException {
        FrameServer server = closeLater(new FrameServer(new RefusesFirst()));
        connect(config(server.url()).build());

        answerOf(make(call, "object"));

        assertThat(server.connections).hasSize(2);
    }
}
