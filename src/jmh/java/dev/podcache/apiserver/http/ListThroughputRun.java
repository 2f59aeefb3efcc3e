package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.podcache.apiserver.credentials.ConnectionSettings;
import dev.podcache.apiserver.credentials.ServerUrl;
import dev.podcache.testing.TestCertificates;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long an answer of 10 MB takes over TLS, with the buffers that the wire has, with those of Netty's default, and
 * with buffers that are not pooled, in turns. Prints the median of each in milliseconds.
 */
public final class ListThroughputRun {

    private static final int LENGTH = 10_000_000;
    private static final int WARM_UP = 20;
    private static final int TURNS = 15;
    private static final int LISTS = 10;

    private ListThroughputRun() {}

    private record MeasuredBuffers(String name, NettyNetwork network, Wire wire, List<Double> millis) {}

    /** Runs the measurement. */
    public static void main(String[] arguments) throws Exception {
        ServerSocket server = new TestCertificates()
                .serverTls()
                .getServerSocketFactory()
                .createServerSocket(0, 10, InetAddress.getLoopbackAddress());
        daemon(() -> accept(server));
        List<MeasuredBuffers> all = List.of(
                opened("one direct arena", NettyWire.BUFFERS, server),
                opened("pooled default", PooledByteBufAllocator.DEFAULT, server),
                opened("unpooled", UnpooledByteBufAllocator.DEFAULT, server));
        for (int i = 0; i < WARM_UP; i++) {
            for (MeasuredBuffers each : all) {
                list(each);
            }
        }
        for (int turn = 0; turn < TURNS; turn++) {
            for (MeasuredBuffers each : all) {
                long begun = System.nanoTime();
                for (int i = 0; i < LISTS; i++) {
                    list(each);
                }
                each.millis.add((System.nanoTime() - begun) / 1e6 / LISTS);
            }
        }
        for (MeasuredBuffers each : all) {
            double[] sorted = each.millis.stream()
                    .mapToDouble(Double::doubleValue)
                    .sorted()
                    .toArray();
            System.out.printf(
                    Locale.ROOT,
                    "%-17s %6.1f ms (%.1f to %.1f)%n",
                    each.name,
                    sorted[TURNS / 2],
                    sorted[0],
                    sorted[TURNS - 1]);
            each.network.close();
        }
        server.close();
    }

    private static MeasuredBuffers opened(String name, ByteBufAllocator buffers, ServerSocket server) {
        NettyNetwork network = new NettyNetwork(Runnable::run, buffers);
        network.start().join();
        X509TrustManager any =
                (X509TrustManager) InsecureTrustManagerFactory.INSTANCE.getTrustManagers()[0];
        ConnectionSettings settings = new ConnectionSettings(
                false, Duration.ofSeconds(20), null, any, Set.of(), null, true, null, null, false, false);
        String url = "https://127.0.0.1:" + server.getLocalPort();
        ServerEndpoint.Target target = new ServerEndpoint.Target(
                ServerUrl.parse(url).orElseThrow(),
                settings,
                (InetSocketAddress) server.getLocalSocketAddress(),
                false,
                Duration.ofSeconds(20));
        CompletableFuture<Boolean> ready = new CompletableFuture<>();
        CompletableFuture<Wire> wire = new CompletableFuture<>();
        network.execute(() -> wire.complete(network.open(target, new Wire.Listener() {
            @Override
            public void opened(boolean multiplexed, int limit) {
                ready.complete(true);
            }

            @Override
            public void limited(int limit) {}

            @Override
            public void retired() {}

            @Override
            public void closed(@Nullable Throwable cause) {
                ready.completeExceptionally(new IOException("closed", cause));
            }
        })));
        ready.join();
        return new MeasuredBuffers(name, network, wire.join(), new ArrayList<>());
    }

    private static void list(MeasuredBuffers by) {
        CompletableFuture<Integer> whole = new CompletableFuture<>();
        by.network.execute(() -> by.wire.send(ServerRequest.get("LIST", "/"), Map.of(), new Wire.Response() {
            private int received;

            @Override
            public void head(int status, Function<String, @Nullable String> headers) {}

            @Override
            public boolean chunk(byte[] bytes) {
                received += bytes.length;
                return true;
            }

            @Override
            public void end() {
                whole.complete(received);
            }

            @Override
            public void broken(Throwable cause, boolean unprocessed) {
                whole.completeExceptionally(cause);
            }
        }));
        if (whole.join() != LENGTH) {
            throw new IllegalStateException("an answer was cut");
        }
    }

    private static void accept(ServerSocket server) {
        try {
            while (true) {
                Socket socket = server.accept();
                daemon(() -> serve(socket));
            }
        } catch (IOException e) {
            // the run is over
        }
    }

    private static void serve(Socket socket) {
        byte[] answer = new byte[LENGTH];
        Arrays.fill(answer, (byte) 'x');
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            int last = 0;
            for (int next = in.read(); next >= 0; next = in.read()) {
                last = last << 8 | next;
                if (last == 0x0d0a0d0a) {
                    out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + LENGTH + "\r\n\r\n").getBytes(ISO_8859_1));
                    out.write(answer);
                    out.flush();
                }
            }
        } catch (IOException e) {
            // the run is over
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
    }
}
