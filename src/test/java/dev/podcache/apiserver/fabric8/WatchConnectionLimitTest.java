package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.common.util.concurrent.Uninterruptibles;
import com.sun.management.UnixOperatingSystemMXBean;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Over HTTP/1.1 each watch needs a connection, and there are at most 8,192. */
@Slow
@ExtendWith(NoLeaks.class)
class WatchConnectionLimitTest {

    private static final Logger POOL = (Logger) LoggerFactory.getLogger("dev.podcache.apiserver.http");
    private static final int MOST = 8_192;
    private static final int AT_ONCE = 256;

    /** Both ends of each connection are in this process. */
    private static final long NEEDED_FILES = 2 * MOST + 1_000;

    private final AtomicInteger open = new AtomicInteger();
    private final ListAppender<ILoggingEvent> said = new ListAppender<>();

    @BeforeEach
    void listen() {
        said.start();
        POOL.addAppender(said);
    }

    @AfterEach
    void stopListening() {
        POOL.detachAppender(said);
    }

    @Test
    @ExpectedWarnings("8192 connections to http://127.0.0.1:")
    void watches_moreThanConnections_waitUntilAnotherEnds() throws Exception {
        assumeTrue(
                ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                        && system.getMaxFileDescriptorCount() >= NEEDED_FILES,
                "this process may not open enough files: see ulimit -n");
        List<WatchHandle> watches = new ArrayList<>();
        try (EndlessWatches server = new EndlessWatches();
                Fabric8ApiServer api = Fabric8ApiServer.of(
                        new ConfigBuilder(Config.empty())
                                .withMasterUrl("http://127.0.0.1:" + server.port())
                                .withHttp2Disable(true)
                                .build(),
                        RequestLimit.UNLIMITED)) {
            while (watches.size() < MOST) {
                for (int i = 0; i < AT_ONCE; i++) {
                    watches.add(watch(api, watches.size()));
                }
                await().pollInterval(Duration.ofMillis(2)).until(() -> open.get() == watches.size());
            }

            watches.add(watch(api, MOST));
            // says that it waits
            await().until(() -> said.list.stream()
                    .anyMatch(event -> event.getFormattedMessage().contains("; 1 requests wait for a free stream")));
            assertThat(api.connections()).isEqualTo(MOST);
            assertThat(server.accepted).hasValue(MOST);
            assertThat(open).hasValue(MOST);

            watches.get(0).close();

            await().until(() -> open.get() == MOST + 1);
            assertThat(server.accepted).hasValue(MOST + 1);
        }
    }

    private WatchHandle watch(Fabric8ApiServer api, int number) {
        return api.listerWatcher(ObjectKind.SECRET, "shop", "metadata.name=secret-" + number)
                .watch("1", Duration.ofHours(1), this::count);
    }

    private void count(WatchEvent<Secret> event) {
        if (event instanceof WatchEvent.Opened) {
            open.incrementAndGet();
        }
    }

    /** Answers each request with a watch that has no events, on one thread. */
    private static final class EndlessWatches implements AutoCloseable {

        private static final byte[] OPENED = String.join(
                        "\r\n",
                        "HTTP/1.1 200 OK",
                        "Content-Type: application/json",
                        "Transfer-Encoding: chunked",
                        "",
                        "")
                .getBytes(US_ASCII);

        final AtomicInteger accepted = new AtomicInteger();
        private final Selector selector = Selector.open();
        private final ServerSocketChannel listening = ServerSocketChannel.open();
        private final Thread thread = new Thread(this::serve, "endless-watches");
        private volatile boolean closing;

        EndlessWatches() throws IOException {
            listening.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), MOST);
            listening.configureBlocking(false);
            listening.register(selector, SelectionKey.OP_ACCEPT);
            thread.start();
        }

        int port() {
            return listening.socket().getLocalPort();
        }

        private void serve() {
            ByteBuffer request = ByteBuffer.allocate(8_192);
            try {
                while (!closing) {
                    selector.select();
                    for (SelectionKey key : selector.selectedKeys()) {
                        if (key.isAcceptable()) {
                            accept();
                        } else {
                            answer((SocketChannel) key.channel(), request.clear());
                        }
                    }
                    selector.selectedKeys().clear();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void accept() throws IOException {
            SocketChannel connection = listening.accept();
            accepted.incrementAndGet();
            connection.configureBlocking(false);
            connection.register(selector, SelectionKey.OP_READ);
        }

        /** A request comes in one piece, because it is short. */
        private static void answer(SocketChannel connection, ByteBuffer request) throws IOException {
            boolean open = false;
            try {
                open = connection.read(request) >= 0;
                if (open) {
                    connection.write(ByteBuffer.wrap(OPENED));
                }
            } catch (IOException reset) {
                open = false;
            }
            if (!open) {
                connection.close();
            }
        }

        @Override
        public void close() throws IOException {
            // the keys are that thread's until it has ended
            closing = true;
            selector.wakeup();
            Uninterruptibles.joinUninterruptibly(thread);
            for (SelectionKey key : List.copyOf(selector.keys())) {
                key.channel().close();
            }
            selector.close();
        }
    }
}
