package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import dev.podcache.testing.Sockets;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.Timekeeper;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The addresses of the server's name: several of them, and a lookup that hangs. */
@Slow
@NullUnmarked
@ExtendWith(NoLeaks.class)
class HostAddressesTest extends WireFixture {

    private static final int STREAMS = 2;
    private static final int MANY = 12;

    @TempDir
    private Path folder;

    @Test
    void nobodyListensAtTheFirstAddress_theSecondIsTried() throws IOException {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        ForkedClient client = fork("127.0.0.2 localhost\n127.0.0.1 localhost\n", server);

        AtomicInteger tries = new AtomicInteger();
        for (RequestKind kind : RequestKind.values()) {
            // the deadline of a heartbeat is short for a process that has just started, on a busy machine
            await().untilAsserted(() -> {
                String name = kind + "-" + tries.incrementAndGet();
                client.make(kind, name);
                assertThat(client.outcomeOf(name)).isEqualTo("answered");
            });
        }
    }

    /** No heartbeat has more time than the first address gets. */
    @Test
    void firstAddressAcceptsAndStaysSilent_heartbeatsReachTheSecond() throws IOException {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        closeLater(new ServerSocket(server.port(), 0, InetAddress.getByName("127.0.0.2")));
        ForkedClient client = fork("127.0.0.2 localhost\n127.0.0.1 localhost\n", server);

        client.make(RequestKind.HEARTBEAT, "first");
        assertThat(client.outcomeOf("first")).startsWith("failed: ").contains("no answer from");

        AtomicInteger tries = new AtomicInteger();
        // the second one, unless this machine is so busy that the first did not begin to connect
        await().untilAsserted(() -> {
            String name = "again-" + tries.incrementAndGet();
            client.make(RequestKind.HEARTBEAT, name);
            assertThat(client.outcomeOf(name)).isEqualTo("answered");
        });
    }

    /** Runs on the caller's thread what is urgent, such as a lookup, as a timekeeper that was closed does. */
    private static final class UrgentOnTheCallersThread extends ForwardingTimekeeper {

        private final List<String> locksHeld = new CopyOnWriteArrayList<>();
        private final AtomicInteger tasks = new AtomicInteger();

        UrgentOnTheCallersThread() {
            super(Timekeeper.system());
        }

        @Override
        public Executor urgent() {
            return task -> {
                tasks.incrementAndGet();
                long thread = Thread.currentThread().getId();
                for (MonitorInfo lock : ManagementFactory.getThreadMXBean()
                        .getThreadInfo(new long[] {thread}, true, false)[0]
                        .getLockedMonitors()) {
                    if (lock.getClassName().startsWith("dev.podcache")) {
                        locksHeld.add(lock.toString());
                    }
                }
                task.run();
            };
        }
    }

    /** Otherwise a lookup that hangs would hold up whoever needs the lock. */
    @Test
    void lookup_noLockIsHeldWhenItBegins_andEachConnectionHasOne() throws Exception {
        WireServer server = closeLater(WireServer.named("localhost"));
        TcpProxy proxy = closeLater(TcpProxy.to(server.port()));
        UrgentOnTheCallersThread time = new UrgentOnTheCallersThread();
        connect(config("https://localhost:" + proxy.port()).build(), time);
        answerOf(make(RequestKind.LIST, "first"));
        int before = time.tasks.get();
        answerOf(make(RequestKind.LIST, "second"));
        assertThat(time.tasks).hasValue(before);

        proxy.reset();
        await().until(() -> Sockets.connectedTo(proxy.port()) == 0);
        answerOf(make(RequestKind.LIST, "third"));

        assertThat(time.tasks).hasValue(before + 1);
        assertThat(time.locksHeld).isEmpty();
    }

    /** A request that needs a new connection may be answered over an address that was known before, or time out. */
    @Test
    void lookupHangs_requestsOverOpenConnectionsAreAnswered_andThoseThatNeedAnotherEnd()
            throws IOException, InterruptedException {
        WireServer server = closeLater(WireServer.allowing(STREAMS));
        ForkedClient client = fork("127.0.0.1 localhost\n", server);
        openConnections(client);

        hangLookups();
        List<String> names = makeManyThatNeedAConnection(client);

        client.make(RequestKind.GET, "open-get");
        client.make(RequestKind.HEARTBEAT, "open-heartbeat");
        assertThat(client.outcomeOf("open-get")).isEqualTo("answered");
        assertThat(client.outcomeOf("open-heartbeat")).isEqualTo("answered");
        assertThat(names).allSatisfy(name -> assertThat(client.outcomeOf(name)).isNotEmpty());
    }

    /** Fills the connection of watches, and has others opened. */
    private static void openConnections(ForkedClient client) {
        for (int i = 0; i < STREAMS; i++) {
            client.make(RequestKind.WATCH, "full-" + i);
            assertThat(client.outcomeOf("full-" + i)).isEqualTo("answered");
        }
        for (RequestKind call : List.of(RequestKind.GET, RequestKind.HEARTBEAT)) {
            client.make(call, "before-" + call);
            assertThat(client.outcomeOf("before-" + call)).isEqualTo("answered");
        }
    }

    private static List<String> makeManyThatNeedAConnection(ForkedClient client) {
        List<String> names =
                IntStream.range(0, MANY).mapToObj(i -> "watch-" + i).toList();
        names.forEach(name -> client.make(RequestKind.WATCH, name));
        return names;
    }

    /** Makes the hosts file a pipe without a writer, so that opening it blocks. */
    private void hangLookups() throws IOException, InterruptedException {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        Files.move(pipe, folder.resolve("hosts"), StandardCopyOption.ATOMIC_MOVE);
    }

    private ForkedClient fork(String hosts, WireServer server) throws IOException {
        Path file = Files.writeString(folder.resolve("hosts"), hosts);
        return closeLater(new ForkedClient(file, folder, "https://localhost:" + server.port()));
    }
}
