package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The limit of streams on a connection, as servers announce it. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class StreamLimitTest extends WireFixture {

    private static final int LIMIT = 5;
    private static final int WATCHES = 14;

    @Test
    void settingsWithoutALimit_afterTheFirst_leaveTheLimitAsItIs() throws InterruptedException {
        Map<FrameServer.FrameConnection, AtomicInteger> streams = new ConcurrentHashMap<>();
        AtomicInteger most = new AtomicInteger();
        FrameServer server = closeLater(new FrameServer(new FrameServer.FrameScript() {
            @Override
            public Frames greeting(FrameServer.FrameConnection connection) {
                streams.put(connection, new AtomicInteger());
                return new Frames().settingsWithLimit(LIMIT).settingsWithWindow(1 << 20);
            }

            @Override
            public Frames answer(FrameServer.FrameConnection connection, int stream, String path) {
                int open = streams.get(connection).incrementAndGet();
                most.accumulateAndGet(open, Math::max);
                return new Frames().settingsWithWindow(1 << 21).headers(stream);
            }
        }));
        connect(config(server.url()).build());

        var watches = IntStream.range(0, WATCHES)
                .<CompletableFuture<?>>mapToObj(i -> watch("object-" + i))
                .toList();
        for (CompletableFuture<?> watch : watches) {
            answerOf(watch);
        }

        assertThat(most).hasValueLessThanOrEqualTo(LIMIT);
    }
}
