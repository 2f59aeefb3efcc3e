package dev.podcache.kubelet.server;

import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.util.Map;
import java.util.function.Function;

/**
 * Serves the page of a node at {@code http://127.0.0.1:<port>/ui}, without TLS and without authentication: every user of
 * this machine can read the names, states and failures of the node's objects, never their contents. Nothing can be
 * changed. Thread-safe.
 *
 * <p>Only requests of this machine's browsers are answered. A web site that makes its own name resolve to 127.0.0.1
 * sends that name as the host, and is refused.
 */
public final class PageServer implements AutoCloseable {

    private static final String LOOPBACK = "127.0.0.1";
    private static final int CONCURRENT_ANSWERS = 2;

    private final NodePage page;
    private final Timekeeper timekeeper;
    private final TaskThreads threads;
    private final BoundedAnswers answers;
    private final HttpListener listener;

    private PageServer(NodePage page, Timekeeper timekeeper) {
        this.page = page;
        this.timekeeper = timekeeper;
        this.threads = TaskThreads.named("podcache-page", CONCURRENT_ANSWERS, timekeeper);
        this.answers = new BoundedAnswers(threads);
        this.listener = new HttpListener(
                request -> answers.answer(request, this::answer), HttpListener.Transfers.NONE, timekeeper);
    }

    /**
     * Starts to serve a page. Waits at most 10 s.
     *
     * @param port 0 for any free port
     * @throws IllegalArgumentException if the port is not between 0 and 65535
     * @throws IOException if another process has the port
     */
    public static PageServer start(NodeView view, int port) throws IOException {
        return start(timekeeper -> NodePage.of(view, timekeeper), port);
    }

    static PageServer start(Function<Timekeeper, NodePage> page, int port) throws IOException {
        ListenAddress.port("the port", port);
        Timekeeper timekeeper = Timekeeper.system();
        PageServer server = new PageServer(page.apply(timekeeper), timekeeper);
        try {
            server.listener.listen(LOOPBACK, port);
            return server;
        } catch (IOException e) {
            server.close();
            throw new IOException(
                    "cannot listen on " + LOOPBACK + ":" + port + ": " + e.getMessage()
                            + "; choose another port, or 0 for a free one",
                    e);
        }
    }

    /** Returns the URL of the page. */
    public String url() {
        return "http://" + LOOPBACK + ":" + listener.port() + "/ui";
    }

    private KubeletResponse answer(KubeletRequest request) throws IOException {
        request.requireHostOfThisMachine(LOOPBACK, "the page at " + url() + " is");
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            return KubeletResponse.text(405, "nothing can be changed here: only GET and HEAD are supported")
                    .with(Map.of("Allow", "GET, HEAD"));
        }
        if (request.path().equals("/")) {
            return KubeletResponse.text(302, "the page is at /ui").with(Map.of("Location", "/ui"));
        }
        return page.answer(request);
    }

    /** Closes all connections and ends the threads. Waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        listener.close();
        threads.close();
        timekeeper.close();
    }
}
