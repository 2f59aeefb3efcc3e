package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Logs and commands over HTTPS, with clients of the JDK. */
@ExtendWith(NoLeaks.class)
class KubeletServerStreamsTest {

    private static final String LOGS = "/containerLogs/shop/web/main";
    private static final String EXEC = "/exec/shop/web/main?command=cat&input=1&output=1&error=1";

    @TempDir
    Path folder;

    private ServerFixture fixture;

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture(folder);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void logs_areTheRuntimesOutput() throws Exception {
        HttpResponse<String> response = fixture.get(
                LOGS + "?tailLines=3&sinceTime=2025-12-31T00:00:00Z&previous=true&timestamps=true&limitBytes=4");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("hell");
        assertThat(fixture.runtime.logged).containsExactly("shop/web(uid-web) main");
        assertThat(fixture.runtime.options)
                .containsExactly(new LogOptions(
                        false, true, true, OptionalLong.of(3), Optional.of(Instant.parse("2025-12-31T00:00:00Z"))));
    }

    /** A client that is gone without a word is noticed where nothing is sent to it either, as by a log that is followed. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void connection_isKeptAlive() throws IOException {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), fixture.server.port())) {
            String ports = ":%04X [0-9A-F]+:%04X 01 [0-9A-F:]+ (\\d\\d):"
                    .formatted(fixture.server.port(), client.getLocalPort());
            Pattern served = Pattern.compile(ports);

            await().until(() -> {
                Matcher timer = served.matcher(
                        Files.readString(Path.of("/proc/net/tcp6")) + Files.readString(Path.of("/proc/net/tcp")));
                return timer.find() && timer.group(1).equals("02");
            });
        }
    }

    /** Its last instance is the one that has ended, and the runtime has started none since. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void logs_ofThePreviousInstance_whileTheContainerWaitsForItsRestart_areOfTheOneThatEnded(boolean waits)
            throws Exception {
        ContainerStateBuilder state = new ContainerStateBuilder();
        fixture.pods.set(
                0,
                ServerFixture.web()
                        .withNewStatus()
                        .addNewContainerStatus()
                        .withName("main")
                        .withState((waits
                                        ? state.withNewWaiting()
                                                .withReason("CrashLoopBackOff")
                                                .endWaiting()
                                        : state.withNewRunning().endRunning())
                                .build())
                        .withNewLastState()
                        .withNewTerminated()
                        .withExitCode(1)
                        .endTerminated()
                        .endLastState()
                        .endContainerStatus()
                        .endStatus()
                        .build());

        assertThat(fixture.get(LOGS + "?previous=true").statusCode()).isEqualTo(200);

        assertThat(fixture.runtime.options).extracting(LogOptions::previous).containsExactly(!waits);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    shop/none/main | 404 | pod "none" does not exist
                    shop/web/side | 404 | container "side" not found in pod "web"
                    other/web/main | 404 | pod "web" does not exist
                    shop/web/main?tailLines=-1 | 422 | {"message": "Invalid request: tailLines must be 0 or greater."}
                    shop/web/main?tailLines=x | 400 | {"message": "Unable to decode query: tailLines is not an integer."}
                    shop/%zz/main | 400 | the request cannot be read
                    """)
    void logs_wrongRequest_isRefused(String rest, int code, String message) throws Exception {
        try (Socket socket =
                ServerFixture.tlsAs("reader").getSocketFactory().createSocket("127.0.0.1", fixture.server.port())) {
            socket.getOutputStream()
                    .write(("GET /containerLogs/" + rest + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 " + code + " ");
            if (!rest.contains("%")) {
                assertThat(answer).endsWith("\r\n\r\n" + message);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                | false | container "main" in pod "web" is not available
                    ''                | true  | previous terminated container "main" in pod "web" not found
                    ErrImagePull      | false | container "main" in pod "web" is waiting to start: image can't be pulled
                    ImagePullBackOff  | false | container "main" in pod "web" is waiting to start: trying and failing to pull image
                    ContainerCreating | false | container "main" in pod "web" is waiting to start: ContainerCreating
                    """)
    void logs_runtimeHasNone_is400WithTheReason(String waiting, boolean previous, String message) throws Exception {
        fixture.runtime.logs = options -> {
            throw new NoSuchFileException("0.log");
        };
        if (!waiting.isEmpty()) {
            fixture.pods.set(
                    0,
                    ServerFixture.web()
                            .withNewStatus()
                            .addNewContainerStatus()
                            .withName("main")
                            .withNewState()
                            .withNewWaiting()
                            .withReason(waiting)
                            .endWaiting()
                            .endState()
                            .endContainerStatus()
                            .endStatus()
                            .build());
        }

        HttpResponse<String> response = fixture.get(LOGS + "?previous=" + previous);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEqualTo(message);
    }

    @Test
    @ExpectedWarnings("answered 500")
    void logs_runtimeFails_is500AndOtherRequestsGoOn() throws Exception {
        fixture.runtime.logs = options -> {
            throw new IOException("disk is broken");
        };

        assertThat(fixture.get(LOGS).statusCode()).isEqualTo(500);
        assertThat(fixture.get("/healthz").body()).isEqualTo("ok");
    }

    @Test
    void follow_sendsEachLineAtOnce_andEndsWithTheOutput() throws Exception {
        HeldStream output = new HeldStream();
        fixture.runtime.logs = options -> output;
        HttpResponse<InputStream> response = open(LOGS + "?follow=true");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(fixture.runtime.options).allMatch(LogOptions::follow);

        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            output.put("one\n");
            assertThat(lines.readLine()).isEqualTo("one");
            output.put("two\n");
            assertThat(lines.readLine()).isEqualTo("two");
            output.end();
            assertThat(lines.readLine()).isNull();
        }
        output.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void follow_clientLeaves_runtimesStreamIsClosed() throws Exception {
        HeldStream output = new HeldStream();
        fixture.runtime.logs = options -> output;
        HttpResponse<InputStream> response = open(LOGS + "?follow=true");

        response.body().close();

        output.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void follow_serverCloses_runtimesStreamIsClosed() throws Exception {
        HeldStream output = new HeldStream();
        fixture.runtime.logs = options -> output;
        HttpResponse<InputStream> response = open(LOGS + "?follow=true");

        fixture.server.close();

        output.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
        response.body().close();
    }

    @Test
    @ExpectedWarnings("reading the logs of a container failed; the response is cut off")
    void follow_readFails_clientSeesThatTheResponseIsCutOff() throws Exception {
        HeldStream output = new HeldStream();
        fixture.runtime.logs = options -> output;
        HttpResponse<InputStream> response = open(LOGS + "?follow=true");
        output.put("one\n");
        output.fail();

        assertThat(CompletableFuture.supplyAsync(
                                () -> {
                                    try {
                                        return new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
                                    } catch (IOException cut) {
                                        return "cut off";
                                    }
                                },
                                NewThread.EACH)
                        .get(Patience.SECONDS, TimeUnit.SECONDS))
                .isEqualTo("cut off");
    }

    @Test
    void follow_clientReadsNothing_runtimeIsNotReadFurther() throws Exception {
        AtomicLong read = new AtomicLong();
        fixture.runtime.logs = options -> new InputStream() {
            @Override
            public int read() {
                throw new AssertionError("single bytes are slow");
            }

            @Override
            public int read(byte[] buffer, int offset, int length) {
                read.addAndGet(length);
                return length;
            }
        };
        try (Socket socket =
                ServerFixture.tlsAs("reader").getSocketFactory().createSocket("127.0.0.1", fixture.server.port())) {
            socket.getOutputStream()
                    .write(("GET " + LOGS + " HTTP/1.1\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII));

            // buffers of the sockets, and then nothing
            AtomicLong last = new AtomicLong(-1);
            await().pollInterval(Duration.ofMillis(300))
                    .until(() -> read.get() > 0 && last.getAndSet(read.get()) == read.get());
            assertThat(read.get()).isLessThan(64 << 20);
        }
    }

    @Test
    void logs_tooManyAtATime_areRefusedUntilOneEnds() throws Exception {
        Endpoints endpoints = new Endpoints(
                new Endpoints.Sources(
                        "worker-1",
                        ComponentInfo.of("podcache", "1.0"),
                        () -> fixture.pods,
                        Optional::empty,
                        fixture.runtime,
                        List::of,
                        Optional.empty()),
                fixture.clock);
        KubeletRequest request = Requested.get(LOGS);
        KubeletResponse.Streamed first = (KubeletResponse.Streamed) endpoints.answer(request);
        for (int i = 1; i < Endpoints.MOST_STREAMS; i++) {
            endpoints.answer(request);
        }

        assertThat(catchThrowableOfType(RefusedException.class, () -> endpoints.answer(request))
                        .code())
                .isEqualTo(503);
        first.release().run();
        first.release().run();
        endpoints.answer(request);
        assertThat(catchThrowable(() -> endpoints.answer(request))).isInstanceOf(RefusedException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {ExecEndpoint.V4, ExecEndpoint.V5})
    void exec_connectsTheStreams_andReportsTheExitCode(String subprotocol) throws Exception {
        FakeCommand process = new FakeCommand();
        fixture.runtime.exec = command -> process;
        ChannelMessages messages = new ChannelMessages();
        WebSocket socket = fixture.connect(EXEC, subprotocol, messages);
        assertThat(socket.getSubprotocol()).isEqualTo(subprotocol);

        assertThat(messages.take()).isEqualTo("1:");
        assertThat(messages.take()).isEqualTo("2:warned\n");
        socket.sendBinary(ByteBuffer.wrap("\0hello".getBytes(StandardCharsets.UTF_8)), true)
                .join();
        assertThat(messages.take()).isEqualTo("1:hello");
        if (subprotocol.equals(ExecEndpoint.V5)) {
            socket.sendBinary(ByteBuffer.wrap(new byte[] {(byte) 255, 0}), true).join();
        } else {
            process.stdin().close();
        }

        assertThat(messages.take())
                .startsWith("3:{\"metadata\":{},\"status\":\"Failure\"")
                .contains("\"reason\":\"NonZeroExitCode\"", "{\"reason\":\"ExitCode\",\"message\":\"3\"}");
        assertThat(messages.take()).isEqualTo("closed");
        assertThat(process.killed).isDone();
        assertThat(fixture.reviews.accesses.peek())
                .isEqualTo(new ResourceAccess("create", "nodes", "proxy", "worker-1"));
    }

    @Test
    void exec_clientLeaves_commandIsKilled() throws Exception {
        FakeCommand process = new FakeCommand();
        CompletableFuture<Object> started = new CompletableFuture<>();
        fixture.runtime.exec = command -> {
            started.complete(process);
            return process;
        };
        WebSocket socket = fixture.connect(EXEC, ExecEndpoint.V4, new ChannelMessages());
        // a command whose client leaves before that is not started at all
        started.get(Patience.SECONDS, TimeUnit.SECONDS);

        socket.abort();

        process.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void exec_commandReadsNothing_clientIsNotReadFurther_andItsEndIsNoticed() throws Exception {
        FakeCommand process = new FakeCommand() {
            @Override
            public OutputStream stdin() {
                return new OutputStream() {
                    @Override
                    public void write(int b) {
                        killed.join();
                    }
                };
            }
        };
        fixture.runtime.exec = command -> process;
        WebSocket socket = fixture.connect(EXEC, ExecEndpoint.V4, new ChannelMessages());
        AtomicLong sent = new AtomicLong();
        sendAgain(socket, sent);

        AtomicLong last = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(300))
                .until(() -> sent.get() > 0 && last.getAndSet(sent.get()) == sent.get());

        // buffers of the sockets, and at most three messages
        assertThat(sent.get()).isLessThan(16 << 20);
        socket.abort();
        await().until(() -> {
            fixture.clock.advance(WebSocketSession.HELD_UP_PING_PERIOD);
            return process.killed.isDone();
        });
    }

    private static void sendAgain(WebSocket socket, AtomicLong sent) {
        byte[] part = new byte[1 << 20];
        socket.sendBinary(ByteBuffer.wrap(part), true).thenAccept(done -> {
            sent.addAndGet(part.length);
            sendAgain(socket, sent);
        });
    }

    @Test
    void exec_largeInput_reachesASlowCommandWholeAndInOrder() throws Exception {
        FakeCommand process = new FakeCommand();
        fixture.runtime.exec = command -> process;
        StringBuilder echoed = new StringBuilder();
        ChannelMessages messages = new ChannelMessages();
        WebSocket socket = fixture.connect(EXEC, ExecEndpoint.V4, messages);
        StringBuilder all = new StringBuilder();
        CompletableFuture<?> sent = CompletableFuture.completedFuture(all);
        for (int i = 0; i < 300; i++) {
            String part = i + "-".repeat(2000) + "\n";
            all.append(part);
            sent = sent.thenCompose(
                    before -> socket.sendBinary(ByteBuffer.wrap(("\0" + part).getBytes(StandardCharsets.UTF_8)), true));
        }
        while (echoed.length() < all.length()) {
            String message = messages.take();
            if (message.startsWith("1:")) {
                echoed.append(message, 2, message.length());
            }
        }

        assertThat(echoed).hasToString(all.toString());
        sent.get(Patience.SECONDS, TimeUnit.SECONDS);
        socket.abort();
        process.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void exec_clientReadsNothing_commandIsNotReadFurther() throws Exception {
        AtomicLong read = new AtomicLong();
        FakeCommand process = new FakeCommand() {
            @Override
            public InputStream stdout() {
                return new InputStream() {
                    @Override
                    public int read() {
                        throw new AssertionError("single bytes are slow");
                    }

                    @Override
                    public int read(byte[] buffer, int offset, int length) {
                        read.addAndGet(length);
                        return length;
                    }
                };
            }
        };
        fixture.runtime.exec = command -> process;
        try (RawClient client = RawClient.tls(ServerFixture.tlsAs("reader"), fixture.server.port())) {
            client.send("GET " + EXEC + " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    + "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n");
            AtomicLong last = new AtomicLong(-1);
            await().pollInterval(Duration.ofMillis(300))
                    .until(() -> read.get() > 0 && last.getAndSet(read.get()) == read.get());

            assertThat(read.get()).isLessThan(32 << 20);
        }
        await().until(() -> {
            fixture.clock.advance(WebSocketSession.PING_PERIOD);
            return process.killed.isDone();
        });
    }

    @Test
    void exec_withATerminal_isResized() throws Exception {
        FakeCommand process = new FakeCommand();
        fixture.runtime.exec = command -> process;
        WebSocket socket = fixture.connect(
                "/exec/shop/web/main?command=sh&input=1&output=1&tty=1", ExecEndpoint.V4, new ChannelMessages());

        socket.sendBinary(ByteBuffer.wrap("\4{\"Width\":80,\"Height\":24}".getBytes(StandardCharsets.UTF_8)), true)
                .join();

        await().until(() -> process.sizes.contains("80x24"));
        socket.abort();
        process.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void exec_commandCannotStart_isAnInternalErrorOfTheCommand() throws Exception {
        fixture.runtime.exec = command -> {
            throw new IOException("container main does not run");
        };
        ChannelMessages messages = new ChannelMessages();
        fixture.connect(EXEC, ExecEndpoint.V5, messages);

        assertThat(messages.take())
                .startsWith("3:")
                .contains("error executing command in container: container main does not run", "\"code\":500");
        assertThat(messages.take()).isEqualTo("closed");
    }

    @Test
    void exec_succeeds_isSuccess() throws Exception {
        FakeCommand process = new FakeCommand();
        process.exit.complete(0);
        process.stdin().close();
        fixture.runtime.exec = command -> process;
        ChannelMessages messages = new ChannelMessages();
        fixture.connect("/exec/shop/web/main?command=true&error=1", ExecEndpoint.V5, messages);

        assertThat(messages.take()).isEqualTo("2:");
        assertThat(messages.take()).isEqualTo("2:warned\n");
        assertThat(messages.take()).isEqualTo("3:{\"metadata\":{},\"status\":\"Success\"}");
    }

    @Test
    void ephemeralContainer_hasLogs_commandsAndStreams() throws Exception {
        fixture.pods.set(
                0,
                ServerFixture.web()
                        .editSpec()
                        .addNewEphemeralContainer()
                        .withName("debug")
                        .withStdin(true)
                        .withTty(true)
                        .endEphemeralContainer()
                        .endSpec()
                        .build());
        FakeCommand process = new FakeCommand();
        process.exit.complete(0);
        process.stdin().close();
        fixture.runtime.exec = command -> process;
        FakeCommand container = new FakeCommand();
        fixture.runtime.attach = stdin -> container;
        ChannelMessages ran = new ChannelMessages();
        ChannelMessages attached = new ChannelMessages();

        fixture.connect("/exec/shop/web/debug?command=true&output=1", ExecEndpoint.V5, ran);
        fixture.connect("/attach/shop/web/debug?input=1&output=1&tty=1", ExecEndpoint.V5, attached);

        assertThat(fixture.get("/containerLogs/shop/web/debug").statusCode()).isEqualTo(200);
        assertThat(fixture.runtime.logged).containsExactly("shop/web(uid-web) debug");
        assertThat(ran.take()).isEqualTo("1:");
        assertThat(attached.take()).isEqualTo("1:");
        assertThat(fixture.runtime.attached).containsExactly("shop/web(uid-web) debug with input");
    }

    @Test
    void exec_outlivesTheLimitOfIdleConnections() throws Exception {
        FakeCommand process = new FakeCommand();
        fixture.runtime.exec = command -> process;
        ChannelMessages messages = new ChannelMessages();
        WebSocket socket = fixture.connect(EXEC, ExecEndpoint.V4, messages);
        assertThat(messages.take()).isEqualTo("1:");
        assertThat(messages.take()).isEqualTo("2:warned\n");

        fixture.clock.advance(OpenConnections.IDLE.multipliedBy(2));
        socket.sendBinary(ByteBuffer.wrap("\0still".getBytes(StandardCharsets.UTF_8)), true)
                .join();

        assertThat(messages.take()).isEqualTo("1:still");
        socket.abort();
        process.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void exec_of2000Arguments_getsAllOfThemAndItsStreams() throws Exception {
        FakeCommand process = new FakeCommand();
        fixture.runtime.exec = command -> process;
        ChannelMessages messages = new ChannelMessages();
        WebSocket socket = fixture.connect(
                "/exec/shop/web/main?" + "command=a&".repeat(2000) + "input=1&output=1&error=1",
                ExecEndpoint.V4,
                messages);

        assertThat(messages.take()).isEqualTo("1:");
        assertThat(messages.take()).isEqualTo("2:warned\n");
        assertThat(fixture.runtime.commands).singleElement().isEqualTo(Collections.nCopies(2000, "a"));
        socket.abort();
        process.killed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void exec_ofTooManyArguments_isRefusedAndRunsNothing() throws Exception {
        assertThat(fixture.get("/exec/shop/web/main?" + "command=a&".repeat(10_000) + "output=1")
                        .body())
                .isEqualTo("the request cannot be read: the query has more than 10000 parameters");
        assertThat(fixture.runtime.commands).isEmpty();
    }

    @Test
    void exec_withoutWebSocket_isRefusedWithASentence() throws Exception {
        assertThat(fixture.get(EXEC).body()).isEqualTo("Upgrade request required");
        assertThat(fixture.get("/exec/shop/web/main?output=1").body()).isEqualTo("the parameter command is missing");
        assertThat(fixture.get("/exec/shop/web/main?command=ls").body())
                .isEqualTo("you must specify at least 1 of stdin, stdout, stderr");
        assertThat(fixture.runtime.commands).isEmpty();
    }

    @Test
    void exec_notAllowed_isRefusedBeforeTheHandshake() {
        fixture.reviews.allowed = (user, access) -> access.verb().equals("get");

        assertThat(catchThrowableOfType(
                        ExecutionException.class, () -> fixture.connect(EXEC, ExecEndpoint.V4, new ChannelMessages())))
                .cause()
                .isInstanceOfSatisfying(
                        WebSocketHandshakeException.class,
                        refused ->
                                assertThat(refused.getResponse().statusCode()).isEqualTo(403));
        assertThat(fixture.runtime.commands).isEmpty();
    }

    private HttpResponse<InputStream> open(String path) throws IOException, InterruptedException {
        HttpClient client = ServerFixture.anonymous();
        return client.send(
                fixture.request(path)
                        .header("Authorization", "Bearer " + FakeReviews.TOKEN)
                        .build(),
                BodyHandlers.ofInputStream());
    }

    /** An output whose reads block until a test puts something. Only its close ends a blocked read. */
    private static final class HeldStream extends InputStream {

        final CompletableFuture<Object> closed = new CompletableFuture<>();
        private final BlockingQueue<byte[]> parts = new LinkedBlockingQueue<>();
        private final CountDownLatch end = new CountDownLatch(1);

        void put(String text) {
            parts.add(text.getBytes(StandardCharsets.UTF_8));
        }

        void end() {
            parts.add(new byte[0]);
        }

        void fail() {
            end.countDown();
            end();
        }

        @Override
        public int read() {
            throw new AssertionError("single bytes are slow");
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            while (true) {
                try {
                    byte[] part = parts.take();
                    if (part.length == 0 && end.getCount() == 0) {
                        throw new IOException("the disk is broken");
                    }
                    System.arraycopy(part, 0, buffer, offset, part.length);
                    return part.length == 0 ? -1 : part.length;
                } catch (InterruptedException ignored) {
                    // as a runtime does that reads from a file
                }
            }
        }

        @Override
        public void close() {
            end();
            closed.complete(this);
        }
    }
}
