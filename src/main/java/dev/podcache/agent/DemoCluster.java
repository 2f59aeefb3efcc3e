package dev.podcache.agent;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;

/** The cluster of the demo: an API server in this process, with a workload. */
final class DemoCluster implements AutoCloseable {

    static final String NODE = "worker-1";

    private final Timekeeper timekeeper;
    private final InMemoryCluster cluster;
    private final EmbeddedApiServer server;
    private final int ttlSeconds;

    private DemoCluster(Timekeeper timekeeper, InMemoryCluster cluster, EmbeddedApiServer server, int ttlSeconds) {
        this.timekeeper = timekeeper;
        this.cluster = cluster;
        this.server = server;
        this.ttlSeconds = ttlSeconds;
    }

    InMemoryCluster cluster() {
        return cluster;
    }

    int ttlSeconds() {
        return ttlSeconds;
    }

    String url() {
        return server.url();
    }

    /** A file beside this class, as objects. */
    static List<HasMetadata> load(String resource) {
        try (InputStream in = DemoCluster.class.getResourceAsStream(resource)) {
            Object content = Serialization.unmarshal(in);
            if (content instanceof Collection<?> objects) {
                return objects.stream().map(HasMetadata.class::cast).toList();
            }
            throw new IllegalStateException(resource + " is no list of objects");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
