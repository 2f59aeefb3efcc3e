package dev.podcache.kubelet.server;

import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.X509TrustManager;

/**
 * The HTTPS endpoint of a node, which a kubelet serves on port 10250: the API server sends {@code kubectl logs} and
 * {@code kubectl exec} to it, and metrics-server reads it. Thread-safe.
 *
 * <p>Create it with {@link #builder}, then {@link #start} it. Advertise {@link #port} in the Node's status.
 */
public final class KubeletServer implements AutoCloseable {

    /** Answers that are made at a time; a call that takes long does not count. */
    private static final int CONCURRENT_ANSWERS = 4;

    private final KubeletServerBuilder options;
    private final TaskThreads threads;
    private final HttpsListener listener;
    private final List<WatchedFiles> files = new ArrayList<>();

    // set before the server listens, and then by the watch of the file
    private volatile ClientCertificates clients = ClientCertificates.NONE;

    KubeletServer(KubeletServerBuilder options) {
        this.options = options;
        Timekeeper timekeeper = options.timekeeper;
        threads = TaskThreads.named("podcache-kubelet-server", CONCURRENT_ANSWERS, timekeeper);
        RequestChain chain = new RequestChain(
                new Authentication(options.reviews(), () -> clients, timekeeper),
                new Authorization(options.reviews(), options.node, timekeeper),
                new Endpoints(options.sources(), timekeeper),
                threads);
        listener = new HttpsListener(new AnyClient(), new HttpListener(chain::handle, new Threads(), timekeeper));
    }

    /**
     * Returns a builder of a server.
     *
     * @param node the name of the Node
     * @param timekeeper the time, timers and threads of the server; not closed by it
     */
    public static KubeletServerBuilder builder(String node, Timekeeper timekeeper) {
        return new KubeletServerBuilder(node, timekeeper);
    }

    /**
     * Starts to listen. Reads files, and so blocks. Call it once. If it throws, the server must still be closed.
     *
     * @throws IllegalArgumentException if a file of the options cannot be used; the message names it
     * @throws IOException if the address cannot be used, for example because another process has the port
     */
    public void start() throws IOException {
        if (options.certificate.isEmpty()) {
            useSelfSigned();
        } else {
            watch(new WatchedFiles(
                    options.certificate,
                    contents -> listener.use(new ServingCertificate(contents.get(0), contents.get(1))),
                    options.timekeeper));
        }
        if (!options.clientAuthority.isEmpty()) {
            watch(new WatchedFiles(
                    options.clientAuthority,
                    contents -> clients = ClientCertificates.signedBy(contents.get(0)),
                    options.timekeeper));
        }
        try {
            listener.listen(options.address, options.port);
        } catch (IOException e) {
            throw new IOException(
                    "cannot listen on " + options.address + ":" + options.port + ": " + e.getMessage()
                            + "; choose another address or port",
                    e);
        }
    }

    private void useSelfSigned() {
        try {
            listener.use(SelfSigned.of(options.names(), options.timekeeper.wallTime()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime cannot use a certificate that it made", e);
        }
    }

    private void watch(WatchedFiles watched) {
        files.add(watched);
        watched.start();
    }

    /**
     * Returns the port that the server listens on.
     *
     * @throws IllegalStateException if it has not started
     */
    public int port() {
        int port = listener.port();
        if (port <= 0) {
            throw new IllegalStateException("the server has not started");
        }
        return port;
    }

    /**
     * Closes all connections, kills the commands that were started through them, and ends all threads of the server.
     * Waits at most 10 s. A call of the runtime that ignores its interrupt continues. Idempotent.
     */
    @Override
    public void close() {
        files.forEach(WatchedFiles::close);
        listener.close();
        threads.close();
    }

    /** Starts the threads of responses that are more than a body. */
    private final class Threads implements HttpListener.Transfers {

        @Override
        public void send(KubeletResponse.Streamed source, ResponseStream client) {
            new LogTransfer(source, client, threads, options.timekeeper).start();
        }

        @Override
        public void run(KubeletResponse.Upgrade upgrade, MessageChannel client) {
            new WebSocketSession(upgrade, client, threads, options.timekeeper).start();
        }
    }

    /**
     * Lets every client finish the handshake, in which it proves that it has the key of its certificate. {@link
     * Authentication} verifies the certificate, so that a client with another one may still send a token.
     */
    private final class AnyClient implements X509TrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String algorithm) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String algorithm) throws CertificateException {
            throw new CertificateException("this is a server");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return clients.authorities().toArray(new X509Certificate[0]);
        }
    }
}
