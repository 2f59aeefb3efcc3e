package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableList;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.StatusException;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.pod.PodEnd;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** The cluster of the demo: in memory, with a workload. */
public final class DemoCluster implements AutoCloseable {

    public static final String NODE = "worker-1";

    /** The kinds in the files of this package. The executable jar has no list of all kinds, which are hundreds of classes. */
    private static final ImmutableList<Class<? extends KubernetesResource>> KINDS =
            ImmutableList.of(Namespace.class, Node.class, Pod.class, Secret.class, ConfigMap.class);

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final int ttlSeconds;

    private DemoCluster(int ttlSeconds) {
        this.ttlSeconds = ttlSeconds;
    }

    /** Creates the cluster, with a TTL annotation on its Node. */
    public static DemoCluster start(int ttlSeconds) {
        DemoCluster demo = new DemoCluster(ttlSeconds);
        for (HasMetadata object : load("demo-workload.yaml")) {
            if (object instanceof Node) {
                object.getMetadata().setAnnotations(Map.of(NodeTtlSource.ANNOTATION, "" + ttlSeconds));
            }
            demo.create(object);
        }
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

    /** Removes the pods that are marked for deletion. Without a kubelet, {@code kubectl delete pod} would hang. */
    void removeDeleted(Iterable<Pod> pods) {
        for (Pod pod : pods) {
            if (PodEnd.isDeleted(pod)) {
                try {
                    cluster.deleteNow(pod);
                } catch (StatusException alreadyRemoved) {
                    // by kubectl delete --force
                }
            }
        }
    }

    @Override
    public void close() {
        cluster.close();
        timekeeper.close();
    }

    /** Returns a client of an API server of the demo, to be closed by the caller. */
    static KubernetesClient client(String url) {
        Config config = new ConfigBuilder(Config.empty()).withMasterUrl(url).build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** Returns the objects of a resource of this package. */
    public static List<HasMetadata> load(String resource) {
        try (InputStream in = DemoCluster.class.getResourceAsStream(resource)) {
            KubernetesSerialization serialization = new KubernetesSerialization();
            KINDS.forEach(serialization::registerKubernetesResource);
            Object content = serialization.unmarshal(in);
            if (content instanceof Collection<?> objects) {
                return objects.stream().map(HasMetadata.class::cast).toList();
            }
            throw new IllegalStateException(resource + " is not a list of objects");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
