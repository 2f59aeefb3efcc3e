package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.podcache.kubelet.podsync.LifecycleHooks.HookTarget;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Pods;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.LifecycleHandler;
import io.fabric8.kubernetes.api.model.LifecycleHandlerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LifecycleHooksTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final TaskThreads threads = TaskThreads.on(NewThread.EACH, 1, time);
    private final FlakyRuntime runtime = new FlakyRuntime(new HollowRuntime(time));
    private final ProbeNetwork network = new ProbeNetwork(time, "1.36");
    private final LifecycleHooks hooks =
            new LifecycleHooks(new RuntimeExec(runtime, threads), Optional.of(network), time);
    private final Pod pod = Pods.withSecrets("shop", "web", "u1");
    private final Container main = pod.getSpec().getContainers().get(0);

    @AfterEach
    void tearDown() {
        network.close();
    }

    private Optional<String> run(LifecycleHandler hook, String... podIps) throws InterruptedException {
        return hooks.run(hook, new HookTarget(pod, main, List.of(podIps)), LONG);
    }

    private static LifecycleHandler get(int port, String path) {
        return new LifecycleHandlerBuilder()
                .withNewHttpGet()
                .withPath(path)
                .withNewPort(port)
                .endHttpGet()
                .build();
    }

    private static final LifecycleHandler SLEEP =
            new LifecycleHandlerBuilder().withNewSleep(60L).build();

    private static final LifecycleHandler COMMAND = new LifecycleHandlerBuilder()
            .withNewExec()
            .withCommand("drain")
            .endExec()
            .build();

    @Test
    void httpGet_anyStatusIsASuccess_andTheServerSeesTheKubeletsUserAgent() throws Exception {
        CompletableFuture<String> seen = new CompletableFuture<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            seen.complete(exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("User-Agent"));
            exchange.sendResponseHeaders(500, -1);
            exchange.close();
        });
        server.start();
        try {
            assertThat(run(get(server.getAddress().getPort(), "/bye"), "127.0.0.1"))
                    .isEmpty();
            assertThat(seen.join()).isEqualTo("/bye kube-lifecycle/1.36");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void httpGet_redirectToItsOwnHost_isFollowed() throws Exception {
        AtomicInteger drained = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> redirect(exchange, "/drain/"));
        server.createContext("/drain/", exchange -> {
            drained.incrementAndGet();
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        try {
            assertThat(run(get(server.getAddress().getPort(), "/drain"), "127.0.0.1"))
                    .isEmpty();
            assertThat(drained).hasValue(1);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void httpGet_redirectToAnotherHost_isASuccess() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> redirect(exchange, "http://name.invalid/"));
        server.start();
        try {
            assertThat(run(get(server.getAddress().getPort(), "/"), "127.0.0.1"))
                    .isEmpty();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void httpGet_redirectsWithoutEnd_fails() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> redirect(exchange, "/again"));
        server.start();
        try {
            assertThat(run(get(server.getAddress().getPort(), "/"), "127.0.0.1").orElseThrow())
                    .endsWith("stopped after 10 redirects");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void httpGet_answerBreaksOff_isASuccess() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> answerHalf(server), NewThread.EACH);

            assertThat(run(get(server.getLocalPort(), "/"), "127.0.0.1")).isEmpty();
            served.join();
        }
    }

    private static void answerHalf(ServerSocket server) {
        try (Socket socket = server.accept()) {
            socket.getInputStream().read(new byte[1 << 16]);
            String half = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf";
            socket.getOutputStream().write(half.getBytes(StandardCharsets.US_ASCII));
            socket.shutdownOutput();
            socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // the hook says what is wrong
        }
    }

    private static void redirect(HttpExchange exchange, String location) throws IOException {
        exchange.getResponseHeaders().add("Location", location);
        exchange.sendResponseHeaders(301, -1);
        exchange.close();
    }

    @Test
    void httpGet_nobodyListens_fails() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        } catch (IOException e) {
            throw new AssertionError(e);
        }

        assertThat(run(get(port, "/"), "127.0.0.1").orElseThrow())
                .startsWith("lifecycle hook of container main failed: ");
    }

    @Test
    void httpGet_podHasNoAddress_fails() throws Exception {
        assertThat(run(get(80, "/"))).contains("lifecycle hook of container main failed: the pod has no IP address");
    }

    @Test
    void sleep_endsAfterItsTime() throws Exception {
        FutureTask<Optional<String>> running = new FutureTask<>(() -> run(SLEEP));
        NewThread.EACH.execute(running);
        time.awaitWaiters(1);

        time.advance(Duration.ofSeconds(59));
        assertThat(running.isDone()).isFalse();
        time.advance(Duration.ofSeconds(1));

        assertThat(running.get()).isEmpty();
    }

    @Test
    void timeIsOver_commandIsKilled_andTheHookHasNotFailed() throws Exception {
        FakeProcess process = FakeProcess.until(new CountDownLatch(1));
        CountDownLatch started = new CountDownLatch(1);
        runtime.commands = command -> {
            started.countDown();
            return process;
        };
        FutureTask<Optional<String>> running = new FutureTask<>(() -> run(COMMAND));
        NewThread.EACH.execute(running);
        started.await();
        time.awaitWaiters(1);
        assertThat(process.awaited.await(60, TimeUnit.SECONDS)).isTrue();

        time.advance(LONG);

        assertThat(running.get()).isEmpty();
        assertThat(process.closed.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void interrupted_commandIsKilled() throws Exception {
        FakeProcess process = FakeProcess.until(new CountDownLatch(1));
        CountDownLatch started = new CountDownLatch(1);
        runtime.commands = command -> {
            started.countDown();
            return process;
        };
        FutureTask<Optional<String>> running = new FutureTask<>(() -> run(COMMAND));
        Thread thread = new Thread(running);
        thread.start();
        started.await();
        time.awaitWaiters(1);
        assertThat(process.awaited.await(60, TimeUnit.SECONDS)).isTrue();

        thread.interrupt();

        assertThatThrownBy(running::get).hasCauseInstanceOf(InterruptedException.class);
        assertThat(process.closed.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void commandFails_saysItsExitCodeAndNotItsOutput() throws Exception {
        runtime.commands = command -> new FakeProcess("s3cret", 7);

        assertThat(run(COMMAND)).contains("lifecycle hook of container main failed: command exited with 7");
    }

    @Test
    void tcpSocket_isNotSupported() throws Exception {
        LifecycleHandler tcp = new LifecycleHandlerBuilder()
                .withNewTcpSocket()
                .withNewPort(80)
                .endTcpSocket()
                .build();

        assertThat(run(tcp).orElseThrow()).endsWith("tcpSocket is not supported");
    }

    @Test
    void closed_hookFails_isInterruptedInstead_soThatTheContainerIsNotStopped() {
        runtime.commands = command -> new FakeProcess("", 7);
        hooks.close();

        assertThatThrownBy(() -> run(COMMAND)).isInstanceOf(InterruptedException.class);
    }

    @Test
    void containersAreNotReal_haveNoHooks() {
        LifecycleHooks none = new LifecycleHooks(new RuntimeExec(runtime, threads), Optional.empty(), time);
        main.setLifecycle(new io.fabric8.kubernetes.api.model.LifecycleBuilder()
                .withPostStart(COMMAND)
                .withPreStop(COMMAND)
                .build());

        assertThat(none.postStart(main)).isNull();
        assertThat(none.preStop(main)).isNull();
        assertThat(hooks.postStart(main)).isNotNull();
    }
}
