package dev.podcache.apiserver.http;

import static dev.podcache.apiserver.http.RawServer.ACK;
import static dev.podcache.apiserver.http.RawServer.DATA;
import static dev.podcache.apiserver.http.RawServer.END_STREAM;
import static dev.podcache.apiserver.http.RawServer.HEADERS;
import static dev.podcache.apiserver.http.RawServer.PING;
import static dev.podcache.apiserver.http.RawServer.RST_STREAM;
import static dev.podcache.apiserver.http.RawServer.SETTINGS;
import static dev.podcache.apiserver.http.RawServer.frame;
import static dev.podcache.apiserver.http.RawServer.goAway;
import static dev.podcache.apiserver.http.RawServer.head;
import static dev.podcache.apiserver.http.RawServer.number;
import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.testing.Effort;
import dev.podcache.testing.NettyLog;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Five thousand watches on a few connections, whose server does all that a server may do, while Netty follows each buffer. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class StreamSoakTest {

    private static final int WATCHES = 5000;
    private static final int LIMIT = 1000;
    private static final int ACTIONS = 500; // between two looks whether all watches are open
    private static final Duration LENGTH = Effort.NIGHTLY ? Duration.ofMinutes(10) : Duration.ofSeconds(5);
    private static final ObjectDecoder<String> TEXT =
            (json, offset, length) -> new Fetched<>(new String(json, offset, length, UTF_8), "1", length);
    private static final byte[] EVENT =
            ("{\"type\":\"ADDED\",\"object\":{\"text\":\"" + "x".repeat(500) + "\"}}\n").getBytes(UTF_8);

    private final ResourceLeakDetector.Level before = ResourceLeakDetector.getLevel();
    private final Random random = new Random(1);
    private final Timekeeper time = Timekeeper.system();
    private final List<SoakedConnection> connections = new CopyOnWriteArrayList<>();
    private final Queue<Integer> ended = new ConcurrentLinkedQueue<>();
    private final Set<Integer> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong events = new AtomicLong();
    private RawServer server;

    @BeforeEach
    void start() throws IOException {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        server = new RawServer();
        NewThread.EACH.execute(this::accept);
    }

    @AfterEach
    void stop() throws IOException {
        ResourceLeakDetector.setLevel(before);
        server.close();
        for (SoakedConnection each : connections) {
            each.peer.close();
        }
        time.close();
    }

    /** One connection of the server. */
    private final class SoakedConnection {

        private final RawServer.Peer peer;
        private final Set<Integer> streams = ConcurrentHashMap.newKeySet();
        private final Random chance = new Random(2);

        SoakedConnection(RawServer.Peer peer) {
            this.peer = peer;
        }

        synchronized void write(byte[]... frames) {
            try {
                peer.write(frames);
            } catch (IOException e) {
                // the client or the test has closed it
                connections.remove(this);
            }
        }

        void read() {
            try {
                while (true) {
                    read(peer.frame());
                }
            } catch (IOException e) {
                connections.remove(this);
            }
        }

        private void read(RawServer.Frame frame) {
            int stream = frame.stream();
            if (frame.type() == HEADERS && chance.nextInt(50) == 0) {
                write(frame(RST_STREAM, 0, stream, number(7)));
            } else if (frame.type() == HEADERS) {
                write(head(stream, false, 200), frame(DATA, 0, stream, EVENT));
                streams.add(stream);
            } else if (frame.type() == SETTINGS && frame.flags() != ACK) {
                write(frame(SETTINGS, ACK, 0));
            } else if (frame.type() == PING && frame.flags() != ACK) {
                write(frame(PING, ACK, 0, frame.payload()));
            } else if (frame.type() == RST_STREAM) {
                streams.remove(stream);
            }
        }
    }

    private void accept() {
        try {
            while (true) {
                SoakedConnection made = new SoakedConnection(server.acceptHttp2(LIMIT));
                connections.add(made);
                NewThread.EACH.execute(made::read);
            }
        } catch (IOException e) {
            // the test is over
        }
    }

    private void watch(ApiConnections to, int number) {
        String path = "/watch/" + number;
        to.session().watch(ServerRequest.get("WATCH " + path, path), ApiConnections.LONGEST_NAMED, TEXT, event -> {
            if (event instanceof WatchEvent.Opened) {
                open.add(number);
            } else if (event instanceof WatchEvent.Upserted) {
                events.incrementAndGet();
            } else if (event instanceof WatchEvent.Ended) {
                open.remove(number);
                ended.add(number);
            }
        });
    }

    @Test
    void manyWatches_eventsResetsGoAwaysAndLostConnections_leakNoBuffer() {
        Config config = Config.empty();
        try (NettyLog log = new NettyLog()) {
            try (ApiConnections client = new ApiConnections(
                    "http://127.0.0.1:" + server.port(),
                    new ConfigBuilder(config).build(),
                    config.getRequestConfig(),
                    time,
                    (request, status) -> {})) {
                for (int i = 0; i < WATCHES; i++) {
                    watch(client, i);
                }
                awaitAllOpen(client);
                long end = time.nanoTime() + LENGTH.toNanos();
                while (time.nanoTime() - end < 0) {
                    for (int i = 0; i < ACTIONS; i++) {
                        act();
                    }
                    awaitAllOpen(client);
                }
            }
            assertThat(events.get()).isGreaterThan(WATCHES + 200);
            collect();
            assertThat(log.lines()).isEmpty();
        }
    }

    private void awaitAllOpen(ApiConnections client) {
        await().until(() -> {
            for (Integer next = ended.poll(); next != null; next = ended.poll()) {
                watch(client, next);
            }
            return open.size() == WATCHES;
        });
    }

    private void act() {
        List<SoakedConnection> all = List.copyOf(connections);
        if (all.isEmpty()) {
            return;
        }
        SoakedConnection on = all.get(random.nextInt(all.size()));
        int what = random.nextInt(10_000);
        if (what < 5) {
            on.write(goAway(Integer.MAX_VALUE));
            return;
        }
        if (what < 7) {
            closeNow(on);
            return;
        }
        Integer stream = on.streams.stream()
                .skip(random.nextInt(1 + on.streams.size()))
                .findFirst()
                .orElse(null);
        if (stream == null) {
            return;
        }
        if (what < 8000) {
            on.write(frame(DATA, 0, stream, EVENT));
        } else if (what < 9000) {
            // a line that is never finished: the next event is a part of it, and cannot be read
            on.write(frame(DATA, 0, stream, new byte[10_000]));
        } else if (what < 9500) {
            on.streams.remove(stream);
            on.write(frame(RST_STREAM, 0, stream, number(2)));
        } else {
            on.streams.remove(stream);
            on.write(frame(DATA, END_STREAM, stream, EVENT));
        }
    }

    private static void closeNow(SoakedConnection on) {
        try {
            on.peer.close();
        } catch (IOException e) {
            // it is closed already
        }
    }

    /** Netty notices a buffer that was not released when the next ones are made after a collection. */
    private static void collect() {
        for (int i = 0; i < 5; i++) {
            System.gc();
            for (int j = 0; j < 100; j++) {
                PooledByteBufAllocator.DEFAULT.directBuffer().release();
            }
        }
    }

    @Test
    void bufferThatIsNotReleased_isNoticed(NoLeaks leaks) {
        leaks.allowWarnings("LEAK: ByteBuf.release() was not called");
        try (NettyLog log = new NettyLog()) {
            forget();

            await().until(() -> {
                collect();
                return log.lines().stream().anyMatch(line -> line.contains("LEAK"));
            });
        }
    }

    private static void forget() {
        ByteBuf forgotten = new PooledByteBufAllocator(true, 0, 1, 8192, 5, 64, 16, false).directBuffer(100);
        assertThat(forgotten.refCnt()).isOne();
    }
}
