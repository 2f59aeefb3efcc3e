package dev.podcache.kubelet.server;

import com.google.common.net.InetAddresses;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code /healthz}, {@code /livez} and {@code /readyz} by HTTP without authentication, as a kubelet serves {@code
 * /healthz} at 127.0.0.1:10248. At a loopback address also {@code /metrics}. The reason of a failed check is not shown.
 * Answers are made on {@link Timekeeper#workers()}. Thread-safe.
 */
public final class HealthServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HealthServer.class);

    private final ComponentPages pages;
    private final Timekeeper timekeeper;
    private final HttpListener listener;
    private volatile boolean loopback;

    /**
     * Creates a server that does not listen yet. It must be closed.
     *
     * @param timekeeper not closed by the server
     */
    public HealthServer(ComponentInfo component, Timekeeper timekeeper) {
        this.pages = new ComponentPages(component, List.of(), timekeeper);
        this.timekeeper = timekeeper;
        this.listener = new HttpListener(this::handle, HttpListener.Transfers.NONE, timekeeper);
    }

    /**
     * Starts to listen; waits at most 10 s. Call it once. If it throws, the server must still be closed.
     *
     * @param address an IP address
     * @param port 0 for any free port
     * @throws IOException if the address cannot be used, for example because another process has the port
     */
    public void start(String address, int port) throws IOException {
        loopback = InetAddresses.forString(address).isLoopbackAddress();
        try {
            listener.listen(address, port);
        } catch (IOException e) {
            throw new IOException("cannot listen on " + address + ":" + port + ": " + e.getMessage(), e);
        }
    }

    /** Returns the port that the server listens on; 0 if it does not. */
    public int port() {
        return listener.port();
    }

    private CompletableFuture<KubeletResponse> handle(KubeletRequest request) {
        CompletableFuture<KubeletResponse> answer = new CompletableFuture<>();
        timekeeper.workers().execute(() -> {
            try {
                answer.complete(answer(request));
            } catch (RefusedException refused) {
                answer.complete(KubeletResponse.text(refused.code(), refused.reason()));
            } catch (Throwable e) {
                // includes Error: a metric that lacks a class must not leave the client without an answer
                log.error("{} failed; answered 500", request, e);
                answer.complete(KubeletResponse.text(500, "the component could not answer; its log says why"));
            }
        });
        return answer;
    }

    private KubeletResponse answer(KubeletRequest request) {
        if (!request.method().equals("GET")) {
            throw new RefusedException(405, "the method " + Quoted.value(request.method()) + " is not supported here");
        }
        if (!loopback && Authorization.firstSegment(request.path()).equals("metrics")) {
            throw new RefusedException(403, "/metrics is served without authentication at a loopback address only");
        }
        return pages.open(request, false)
                .orElseThrow(() -> new RefusedException(
                        404, "no such endpoint; this port has /healthz, /livez, /readyz and /metrics"));
    }

    /** Closes all connections; waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        listener.close();
    }
}
