package dev.podcache.cli.hollow;

import dev.podcache.kubelet.agent.HollowTemplate;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The pods of hollow nodes, each with a Secret, created and deleted by several threads. */
final class HollowLoad implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HollowLoad.class);
    private static final String LABEL = "podcache.dev/hollow";
    private static final int THREADS = 8;
    private static final int PAYLOAD = 1_000;

    private final KubernetesClient client;
    private final String namespace;
    private final HollowTemplate template;
    private final int nodes;
    private final int podsPerNode;
    private final ThreadPoolExecutor creating =
            new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());

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
                creating.execute(() -> {
                    create(secret(name));
                    create(pod(name, node));
                });
            }
        }
    }

    /**
     * Deletes the pods, their Secrets and the nodes with their Leases.
     *
     * @throws ExecutionException if something was not deleted; then the rest is not tried
     */
    void delete() throws InterruptedException, ExecutionException {
        endCreation();
        List<Callable<?>> deletions = new ArrayList<>();
        if (podsPerNode > 0) {
            deletions.add(() -> client.pods()
                    .inNamespace(namespace)
                    .withLabel(LABEL, label())
                    .withGracePeriod(0)
                    .delete());
            deletions.add(() -> client.secrets()
                    .inNamespace(namespace)
                    .withLabel(LABEL, label())
                    .delete());
        }
        for (int n = 0; n < nodes; n++) {
            String node = template.name(n);
            deletions.add(() -> client.nodes().withName(node).delete());
            deletions.add(() -> client.leases()
                    .inNamespace("kube-node-lease")
                    .withName(node)
                    .delete());
        }
        awaitAll(deletions);
    }

    /** Drops what is still to be created. A request that was sent is awaited, because the server may execute it. */
    private void endCreation() throws InterruptedException {
        creating.getQueue().clear();
        creating.shutdown();
        creating.awaitTermination(1, TimeUnit.MINUTES);
    }

    private static void awaitAll(List<Callable<?>> deletions) throws InterruptedException, ExecutionException {
        ExecutorService deleting = Executors.newFixedThreadPool(THREADS);
        try {
            List<? extends Future<?>> results =
                    deletions.stream().map(deleting::submit).toList();
            for (Future<?> result : results) {
                result.get();
            }
        } finally {
            deleting.shutdownNow();
        }
    }

    /** Returns how a user deletes what {@link #delete} did not delete. */
    String remedy() {
        return "kubectl delete nodes %s to %s, and kubectl delete --namespace %s pods,secrets --selector %s=%s"
                .formatted(template.name(0), template.name(nodes - 1), namespace, LABEL, label());
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
                .withEnableServiceLinks(true)
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
        creating.shutdownNow();
    }
}
