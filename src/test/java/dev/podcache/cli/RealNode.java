package dev.podcache.cli;

import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.util.UUID;

/** A node that an agent may become on a kube-apiserver, with a namespace for its pods. For one test. */
final class RealNode implements AutoCloseable {

    final String name;
    final String namespace;
    final KubernetesClient admin;

    private final RealApiServer server;

    RealNode(RealApiServer server, String prefix) {
        this.server = server;
        this.name = prefix + "-" + UUID.randomUUID().toString().substring(0, 8);
        this.namespace = "of-" + name;
        this.admin = server.client();
        server.createNamespace(namespace);
    }

    /** With the node's own identity. */
    Path kubeconfig() {
        return server.nodeKubeconfig(name);
    }

    /** A pod that is assigned to the node, with one container, {@code main}. */
    PodBuilder assigned(String pod) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(pod)
                .endMetadata()
                .withNewSpec()
                .withNodeName(name)
                .addNewContainer()
                .withName("main")
                .withImage("nginx")
                .endContainer()
                .endSpec();
    }

    Pod create(PodBuilder pod) {
        return admin.resource(pod.build()).create();
    }

    /** Null if there is none, as with the following. */
    Pod pod(String pod) {
        return admin.pods().inNamespace(namespace).withName(pod).get();
    }

    Node node() {
        return admin.nodes().withName(name).get();
    }

    Lease lease() {
        return admin.leases().inNamespace("kube-node-lease").withName(name).get();
    }

    @Override
    public void close() {
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        admin.close();
    }
}
