package dev.podcache.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** {@code kubectl proxy} as the administrator of a {@link RealApiServer}, for a {@link Browser}. */
public final class KubectlProxy implements AutoCloseable {

    private final ServerProcess process;
    private final String url;

    private KubectlProxy(ServerProcess process, String url) {
        this.process = process;
        this.url = url;
    }

    /** Starts the proxy and waits until it forwards requests to {@code server}. */
    public static KubectlProxy start(RealApiServer server) {
        try {
            int port = FreePorts.find(1).get(0);
            String url = "http://127.0.0.1:" + port;
            Path kubectl = ServerBinaries.found().orElseThrow().kubectl();
            AdminHttp http = new AdminHttp(server.tls());
            ServerProcess process = new ServerProcess(
                    "kubectl-proxy",
                    List.of(kubectl.toString(), "--kubeconfig=" + server.kubeconfig(), "proxy", "--port=" + port),
                    Files.createTempDirectory("podcache-kubectl-proxy"),
                    () -> http.isOk(url + "/readyz"));
            process.start();
            return new KubectlProxy(process, url);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the URL of the API, such as {@code http://127.0.0.1:20001}. */
    public String url() {
        return url;
    }

    @Override
    public void close() {
        process.stop();
    }
}
