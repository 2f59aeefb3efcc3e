package dev.podcache.cli.hollow;

import dev.podcache.kubelet.agent.HollowTemplate;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The pods of hollow nodes, each with a Secret, created and deleted by several threads. */
final class HollowLoad implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HollowLoad.class);
    private static final String LABEL = "podcache.dev/hollow";
    private static final int THREADS = 8;
    private static final int PAYLOAD = 1_000;
    private static final long DELETION_MINUTES = 10;

    private final KubernetesClient client;
    private final String namespace;
    private final HollowTemplate template;
    private final int nodes;
    private final int podsPerNode;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    HollowLoad(KubernetesClient client, String namespace, HollowTemplate template, int nodes, int podsPerNode) {
        this.client = client;
        this.namespace = namespace;
        this.template = template;
        this.nodes = nodes;
        this.podsPerNode = podsPerNode;
    }

    /** Starts to create the pods. Returns at once. */
    void start() {
        for (int p = 0; p < podsPerNode; p++) {
            for (int n = 0; n < nodes; n++) {
                String node = template.name(n);
                String name = node + "-" + p;
                threads.execute(() -> {
                    create(secret(name));
                    create(pod(name, node));
                });
            }
        }
    }

    /** Deletes the pods, their Secrets and the nodes. */
    void delete() throws InterruptedException {
        // what is still to be created
        threads.shutdownNow();
        threads.awaitTermination(1, TimeUnit.MINUTES);
        ExecutorService deleting = Executors.newFixedThreadPool(THREADS);
        if (podsPerNode > 0) {
            client.pods()
                    .inNamespace(namespace)
                    .withLabel(LABEL, label())
                    .withGracePeriod(0)
                    .delete();
            client.secrets().inNamespace(namespace).withLabel(LABEL, label()).delete();
        }
        for (int n = 0; n < nodes; n++) {
            String node = template.name(n);
            deleting.execute(() -> {
                client.nodes().withName(node).delete();
                client.leases().inNamespace("kube-node-lease").withName(node).delete();
            });
        }
        deleting.shutdown();
        deleting.awaitTermination(DELETION_MINUTES, TimeUnit.MINUTES);
    }

    private String label() {
        // a prefix may end with a character that a label value must not end with
        return template.name(0);
    }

    private Secret secret(String name) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(LABEL, label())
                .endMetadata()
                .withStringData(Map.of("value", "x".repeat(PAYLOAD)))
                .build();
    }

    private Pod pod(String name, String node) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(LABEL, label())
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withAutomountServiceAccountToken(false)
                .addNewToleration()
                .withOperator("Exists")
                .endToleration()
                .addNewContainer()
                .withName("main")
                .withImage("hollow")
                .addNewEnvFrom()
                .withNewSecretRef(name, false)
                .endEnvFrom()
                .endContainer()
                .endSpec()
                .build();
    }

    private void create(HasMetadata object) {
        try {
            client.resource(object).create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != 409) {
                log.warn(
                        "{} {} was not created: {}",
                        object.getKind(),
                        object.getMetadata().getName(),
                        e.getMessage());
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
