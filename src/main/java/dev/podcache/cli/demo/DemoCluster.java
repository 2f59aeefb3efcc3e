package dev.podcache.cli.demo;

import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** The cluster of the demo: in memory, with a workload; {@link DemoServer}s serve it. */
public final class DemoCluster implements AutoCloseable {

    public static final String NODE = "worker-1";

    private final Timekeeper timekeeper;
    private final InMemoryCluster cluster;
    private final int ttlSeconds;

    private DemoCluster(Timekeeper timekeeper, InMemoryCluster cluster, int ttlSeconds) {
        this.timekeeper = timekeeper;
        this.cluster = cluster;
        this.ttlSeconds = ttlSeconds;
    }

    /** Makes it, with that TTL on its Node. */
    public static DemoCluster start(int ttlSeconds) {
        Timekeeper timekeeper = Timekeeper.system();
        InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
        DemoCluster demo = new DemoCluster(timekeeper, cluster, ttlSeconds);
        load("demo-workload.yaml").forEach(object -> demo.create(withTtl(object, ttlSeconds)));
        return demo;
    }

    public InMemoryCluster cluster() {
        return cluster;
    }

    int ttlSeconds() {
        return ttlSeconds;
    }

    /** Stores an object with its status, and returns it as stored. */
    HasMetadata create(HasMetadata object) {
        HasMetadata created = cluster.create(object);
        if (object instanceof Pod pod && created instanceof Pod running) {
            running.setStatus(pod.getStatus());
            return cluster.updateStatus(running);
        }
        return created;
    }

    @Override
    public void close() {
        cluster.close();
        timekeeper.close();
    }

    /** A file beside this class, as objects. */
    public static List<HasMetadata> load(String resource) {
        try (InputStream in = DemoCluster.class.getResourceAsStream(resource)) {
            Object content = new KubernetesSerialization().unmarshal(in);
            if (content instanceof Collection<?> objects) {
                return objects.stream().map(HasMetadata.class::cast).toList();
            }
            throw new IllegalStateException(resource + " is no list of objects");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static HasMetadata withTtl(HasMetadata object, int ttlSeconds) {
        if (object instanceof Node) {
            object.getMetadata().setAnnotations(Map.of(NodeTtlSource.ANNOTATION, "" + ttlSeconds));
        }
        return object;
    }
}
