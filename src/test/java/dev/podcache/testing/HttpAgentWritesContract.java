package dev.podcache.testing;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/**
 * The contract of the write ports for the HTTP adapter, with any server that a client can connect to. A subclass
 * provides the server.
 */
public abstract class HttpAgentWritesContract extends AgentWritesContract {

    private final WrittenServer reached;
    private final TcpProxy proxy;
    private final KubernetesClient admin;
    private final KubernetesClient client;
    private final Fabric8ApiServer apiServer;
    private final Heartbeats heartbeats;

    /** A server on the loopback address. */
    public interface WrittenServer extends AutoCloseable {

        /** Returns the client configuration of an administrator. */
        Config config();

        /** Creates a namespace in which pods can be created. */
        default void createNamespace(KubernetesClient admin, String name) {
            admin.resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .endMetadata()
                            .build())
                    .create();
        }

        /** Stops the server if it belongs to the test. */
        @Override
        default void close() {}
    }

    /**
     * Creates a contract test.
     *
     * @param reached the server, which is closed after each test
     */
    protected HttpAgentWritesContract(WrittenServer reached) {
        this.reached = reached;
        Config config = reached.config();
        URI url = URI.create(config.getMasterUrl());
        proxy = TcpProxy.to(url.getPort());
        admin = new KubernetesClientBuilder().withConfig(config).build();
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(config)
                        .withMasterUrl(url.getScheme() + "://127.0.0.1:" + proxy.port())
                        .build())
                .build();
        apiServer = Fabric8ApiServer.of(client);
        heartbeats = apiServer.heartbeats(LEASE_DURATION);
    }

    @AfterEach
    void closeConnections() {
        // closing the API server also closes its heartbeats
        apiServer.close();
        client.close();
        admin.close();
        proxy.close();
        reached.close();
    }

    @Override
    protected PodServer server() {
        return new PodServer() {
            @Override
            public void createNamespace(String name) {
                reached.createNamespace(admin, name);
            }

            @Override
            public Pod create(Pod pod) {
                return admin.resource(pod).create();
            }

            @Override
            public void stall() {
                proxy.freeze();
                proxy.freezeNew();
            }
        };
    }

    @Override
    protected ObjectApi<Node> nodes() {
        return heartbeats.nodes();
    }

    @Override
    protected ObjectApi<Lease> leases() {
        return heartbeats.leases();
    }

    @Override
    protected ObjectApi<Pod> pods(Duration timeout) {
        return apiServer.api(ObjectKind.POD, timeout);
    }

    @Override
    protected ObjectApi<Event> events(Duration timeout) {
        return apiServer.api(ObjectKind.EVENT, timeout);
    }
}
