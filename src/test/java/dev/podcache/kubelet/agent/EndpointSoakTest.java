package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
import dev.podcache.testing.Effort;
import dev.podcache.testing.ForkedJava;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Pods;
import dev.podcache.testing.ProcessorWait;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An agent with 64 MB of heap whose endpoint and health port are attacked by clients without credentials, while its pods come
 * and go.
 */
@Slow
class EndpointSoakTest {

    private static final Duration LENGTH = Effort.NIGHTLY ? Duration.ofMinutes(10) : Duration.ofSeconds(30);

    /**
     * How soon each authenticated request is answered, by a connection of its own. If the attacks kept it from the agent, it would
     * wait until a limit of the endpoint ends one of them: 10 s at least.
     */
    private static final Duration ANSWERED = Duration.ofSeconds(8);

    /** How soon each pod runs, and is gone. */
    private static final Duration STARTED = Duration.ofSeconds(8);

    /** The network of another attacker: requests with the token come from 127.0.0.1, like the other attacks. */
    private static final byte[] OTHER_NETWORK = {127, 0, 0, 2};

    private static final int LONGEST_HELLO = 32 << 10;
    private static final int HELLOS = 5;

    private static final String SMALLEST = "GET / HTTP/1.1\r\n\r\n";
    private static final int READ_TIMEOUT_MILLIS = 20_000;

    @TempDir
    private Path folder;

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicLong connections = new AtomicLong();
    private @Nullable Process agent;
    private int https;
    private int health;

    @AfterEach
    void end() throws InterruptedException {
        over.countDown();
        if (agent != null) {
            agent.destroyForcibly();
            assertThat(agent.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
        server.close();
        cluster.close();
        timekeeper.close();
    }

    /** Trusts any server. */
    private static final class AnyServer implements X509TrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String algorithm) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String algorithm) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    /** What an attacker does again and again with new connections, until one of them fails. */
    private interface Attack {
        void run(Deque<Socket> open) throws IOException, InterruptedException;
    }

    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void floods_ofClientsWithoutCredentials_agentServesAndItsPodsComeAndGo() throws Exception {
        startAgent();
        // a cold JVM loads classes for seconds
        answer();
        List<CompletableFuture<?>> attacks = List.of(
                // A1
                attack(open -> pipeline(open, tls())),
                attack(open -> pipeline(open, plain(health))),
                // A2
                attack(open -> unfinished(open, tls())),
                attack(open -> unfinished(open, plain(health))),
                // A10, before and after the handshake
                attack(open -> idle(open, tls())),
                attack(open -> idle(open, plain(https))),
                // slow readers
                attack(open -> slowReader(open, plain(health), "/metrics")),
                attack(open -> slowReader(open, plain(health), "/debug/objects")),
                attack(this::randomToken),
                // each costs the agent a handshake, and the attacker nothing
                attack(open -> hellos(open, hello())));
        List<Duration> answers = new CopyOnWriteArrayList<>();
        CompletableFuture<?> asked = CompletableFuture.runAsync(() -> ask(answers), NewThread.EACH);
        long end = System.nanoTime() + LENGTH.toNanos();
        List<Duration> started = new ArrayList<>();
        List<Duration> stopped = new ArrayList<>();
        // on a busy machine longer, until there is enough to judge by
        while (!asked.isDone()
                && (end - System.nanoTime() > 0
                        || connections.get() <= 300
                        || answers.size() <= 5
                        || started.size() <= 3)) {
            String name = "pod-" + started.size();
            ProcessorWait start = wait(agent);
            cluster.create(Pods.assigned(SoakedAgentProgram.NODE, name).build());
            await().until(() -> alive() && "Running".equals(phase(name)));
            started.add(start.end());
            ProcessorWait stop = wait(agent);
            cluster.delete(cluster.get(Pod.class, "shop", name));
            await().until(() -> alive() && find(name) == null);
            stopped.add(stop.end());
        }
        over.countDown();
        for (CompletableFuture<?> attack : attacks) {
            attack.get(60, TimeUnit.SECONDS);
        }

        asked.get(60, TimeUnit.SECONDS);
        assertThat(alive()).isTrue();
        assertThat(Files.readString(folder.resolve("err"))).doesNotContain("OutOfMemory");
        assertEach("milliseconds until requests were answered", answers, ANSWERED);
        assertEach("milliseconds until pods ran", started, STARTED);
        assertEach("milliseconds until pods were gone", stopped, STARTED);
    }

    private static void assertEach(String what, List<Duration> measured, Duration limit) {
        List<Long> sorted = measured.stream().map(Duration::toMillis).sorted().toList();
        assertThat(sorted.get(sorted.size() - 1)).as("%s: %s", what, sorted).isLessThan(limit.toMillis());
    }

    private static ProcessorWait wait(@Nullable Process agent) throws IOException {
        return ProcessorWait.begin(Objects.requireNonNull(agent).toHandle());
    }

    private void startAgent() throws IOException {
        agent = ForkedJava.program(
                        List.of("-Xmx64m", "-XX:+ExitOnOutOfMemoryError"),
                        SoakedAgentProgram.class,
                        List.of(server.url(), Integer.toString(FreePorts.find(1).get(0))))
                .redirectError(folder.resolve("err").toFile())
                .start();
        BufferedReader out = agent.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.matches("\\d+ \\d+")) {
                https = Integer.parseInt(line.substring(0, line.indexOf(' ')));
                health = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
                CompletableFuture.runAsync(() -> out.lines().forEach(more -> {}), NewThread.EACH);
                return;
            }
        }
        throw new IllegalStateException("the agent did not start: " + Files.readString(folder.resolve("err")));
    }

    private boolean alive() throws IOException {
        assertThat(agent != null && agent.isAlive())
                .as("%s", Files.readString(folder.resolve("err")))
                .isTrue();
        return true;
    }

    private String phase(String pod) {
        Pod found = find(pod);
        return found == null || found.getStatus() == null
                ? ""
                : String.valueOf(found.getStatus().getPhase());
    }

    private @Nullable Pod find(String pod) {
        try {
            return cluster.get(Pod.class, "shop", pod);
        } catch (StatusException gone) {
            return null;
        }
    }

    /** Asks with the token, again and again, by new connections. Adds how long each answer took. */
    private void ask(List<Duration> answers) {
        try {
            while (!over.await(200, TimeUnit.MILLISECONDS)) {
                answers.add(answer());
            }
        } catch (IOException e) {
            throw new IllegalStateException("after " + answers.size() + " answers", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Duration answer() throws IOException {
        ProcessorWait wait = wait(agent);
        try (Socket socket = tls().open()) {
            send(
                    socket,
                    "GET /pods HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + ServedAgent.TOKEN
                            + "\r\n\r\n");
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 200 ").contains("PodList");
        }
        return wait.end();
    }

    private CompletableFuture<?> attack(Attack attack) {
        return CompletableFuture.runAsync(
                () -> {
                    Deque<Socket> open = new ArrayDeque<>();
                    try {
                        while (!over.await(25, TimeUnit.MILLISECONDS)) {
                            try {
                                attack.run(open);
                            } catch (IOException refused) {
                                // the next connection may not be
                            }
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } finally {
                        open.forEach(EndpointSoakTest::closeQuietly);
                    }
                },
                NewThread.EACH);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is gone
        }
    }

    /** Opens a connection, of which an attacker keeps so many. */
    private interface SocketOpening {
        Socket open() throws IOException;
    }

    private SocketOpening plain(int port) {
        return () -> {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(READ_TIMEOUT_MILLIS);
            connections.incrementAndGet();
            return socket;
        };
    }

    private SocketOpening tls() {
        return () -> {
            Socket socket = context().getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), https);
            socket.setSoTimeout(READ_TIMEOUT_MILLIS);
            connections.incrementAndGet();
            return socket;
        };
    }

    private static SSLContext context() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new AnyServer()}, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Socket keep(Deque<Socket> open, SocketOpening opening, int most) throws IOException {
        if (open.size() >= most) {
            closeQuietly(open.remove());
        }
        Socket socket = opening.open();
        open.add(socket);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
    }

    /** Sends what the server takes, and is closed; or is left with a full queue. */
    private void pipeline(Deque<Socket> open, SocketOpening opening) throws IOException {
        Socket socket = keep(open, opening, 50);
        String part = SMALLEST.repeat(1000);
        // beyond the buffers of the sockets it would block
        for (int i = 0; i < 20 && over.getCount() > 0; i++) {
            send(socket, part);
        }
    }

    private static void unfinished(Deque<Socket> open, SocketOpening opening) throws IOException {
        send(keep(open, opening, 110), "GET /" + "a".repeat(250_000));
    }

    private static void idle(Deque<Socket> open, SocketOpening opening) throws IOException {
        Socket socket = keep(open, opening, 1500);
        if (socket instanceof SSLSocket tls) {
            tls.startHandshake();
        }
    }

    private static void slowReader(Deque<Socket> open, SocketOpening opening, String path) throws IOException {
        send(keep(open, opening, 200), ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").repeat(20));
    }

    /** Returns the first message of a TLS handshake. */
    private static byte[] hello() throws IOException {
        SSLEngine client = context().createSSLEngine();
        client.setUseClientMode(true);
        ByteBuffer hello = ByteBuffer.allocate(LONGEST_HELLO);
        client.wrap(ByteBuffer.allocate(0), hello);
        return Arrays.copyOf(hello.array(), hello.position());
    }

    private void hellos(Deque<Socket> open, byte[] hello) throws IOException {
        SocketOpening opening = () -> {
            connections.incrementAndGet();
            return new Socket(InetAddress.getLoopbackAddress(), https, InetAddress.getByAddress(OTHER_NETWORK), 0);
        };
        for (int i = 0; i < HELLOS; i++) {
            keep(open, opening, 300).getOutputStream().write(hello);
        }
    }

    private void randomToken(Deque<Socket> open) throws IOException {
        try (Socket socket = tls().open()) {
            send(
                    socket,
                    "GET /pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer random-" + connections.get() + "\r\n\r\n");
            InputStream answer = socket.getInputStream();
            assertThat(new String(answer.readNBytes(12), StandardCharsets.US_ASCII))
                    .isIn("HTTP/1.1 401", "HTTP/1.1 429", "");
        }
    }
}
