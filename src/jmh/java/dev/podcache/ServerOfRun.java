package dev.podcache;

import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.ServerMetrics;
import dev.podcache.testing.ServerVersion;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The API server of {@link NamedWatchesRun}: one of its own, or that of a kubeconfig. For one thread. */
final class ServerOfRun implements AutoCloseable {

    private final @Nullable RealApiServer own;
    private final Config config;
    private final KubernetesClient admin;
    private final ServerVersion version;

    private ServerOfRun(@Nullable RealApiServer own, Config config) {
        this.own = own;
        this.config = config;
        this.admin = client();
        this.version = ServerVersion.parse(admin.getKubernetesVersion().getGitVersion());
    }

    /** Starts a server of the newest programs that kube-api-test keeps. */
    static ServerOfRun own() {
        RealApiServer server = RealApiServer.start();
        return new ServerOfRun(server, server.config());
    }

    /** Takes the server of an administrator's kubeconfig. */
    static ServerOfRun of(Path kubeconfig) throws IOException {
        return new ServerOfRun(null, Config.fromKubeconfig(kubeconfig.toFile()));
    }

    /** Returns a client with connections of its own, which the caller closes. */
    KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(HttpClients.vertx())
                .build();
    }

    /** Returns the client of an administrator. Closed with the server. */
    KubernetesClient admin() {
        return admin;
    }

    ServerVersion version() {
        return version;
    }

    /** Returns whether {@link #renew} starts the server anew. */
    boolean isOwn() {
        return own != null;
    }

    /** Starts kube-apiserver anew with the data that it has, if it is ours: a process never gives back all its memory. */
    void renew() {
        if (own != null) {
            own.apiServer().restart();
        }
    }

    /** Returns what the server says of itself. Behind a load balancer, that may be one of several. */
    ServerMetrics metrics() {
        return new ServerMetrics(admin.raw("/metrics"), version);
    }

    @Override
    public void close() {
        admin.close();
        if (own != null) {
            own.close();
        }
    }
}
