package dev.podcache.kubelet.server;

import com.google.common.net.InetAddresses;
import dev.podcache.object.Quoted;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Serves {@code /healthz}, {@code /livez} and {@code /readyz} by HTTP without authentication, as a kubelet serves {@code
 * /healthz} at 127.0.0.1:10248. At a loopback address, it serves all that {@link ComponentInfo} has. The reason of a
 * failed check is not shown. A check that hangs delays no other answer. At a loopback address, a request for the host of
 * another machine is answered 403. Thread-safe.
 */
public final class HealthServer implements AutoCloseable {

    private static final int CONCURRENT_ANSWERS = 4;

    private final ComponentPages pages;
    private final TaskThreads threads;
    private final HttpListener listener;
    private volatile String listensOn = "";
    private volatile boolean loopback;

    /**
     * Creates a server that does not listen yet. It must be closed.
     *
     * @param timekeeper not closed by the server
     */
    public HealthServer(ComponentInfo component, Timekeeper timekeeper) {
        this.pages = new ComponentPages(component, List.of(), timekeeper);
        this.threads = TaskThreads.named("podcache-health", CONCURRENT_ANSWERS, timekeeper);
        BoundedAnswers answers =
                new BoundedAnswers(threads, failure -> "the component could not answer; its log says why");
        this.listener = new HttpListener(
                request -> answers.answer(request, this::answer), HttpListener.Transfers.NONE, timekeeper);
    }

    /**
     * Starts to listen; waits at most 10 s. Call it once. If it throws, the server must still be closed.
     *
     * @param address an IP address
     * @param port 0 for any free port
     * @throws IOException if the address cannot be used, for example because another process has the port
     */
    public void start(String address, int port) throws IOException {
        listensOn = address;
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

    private KubeletResponse answer(KubeletRequest request) {
        if (loopback) {
            request.requireHostOfThisMachine(listensOn, "this port is");
        }
        if (!request.method().equals("GET")) {
            throw new RefusedException(405, "the method " + Quoted.value(request.method()) + " is not supported here");
        }
        Optional<KubeletResponse> answer = loopback ? pages.answer(request, false) : pages.health(request, false);
        return answer.orElseThrow(() -> new RefusedException(
                404,
                "no such endpoint; this port has /healthz, /livez and /readyz, and at a loopback address /metrics,"
                        + " /configz, /statusz, /flagz and /debug/objects"));
    }

    /** Closes all connections; waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        listener.close();
        threads.close();
    }
}
