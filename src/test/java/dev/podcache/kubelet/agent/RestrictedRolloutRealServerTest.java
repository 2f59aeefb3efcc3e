package dev.podcache.kubelet.agent;

import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** On a kube-apiserver, which admits only restricted pods where it has the admission for that, from 1.23 on. */
@RealServerTest
class RestrictedRolloutRealServerTest extends RestrictedRolloutContract {

    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private final String restricted = real.createNamespaceLike("restricted");
    private final String privileged = real.createNamespaceLike("privileged");
    private final String node = "node-of-" + restricted;
    private final KubernetesClient own =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();

    @BeforeEach
    void restrict() {
        admin.namespaces()
                .withName(restricted)
                .edit(namespace -> new NamespaceBuilder(namespace)
                        .editMetadata()
                        .addToLabels("pod-security.kubernetes.io/enforce", "restricted")
                        .endMetadata()
                        .build());
    }

    @AfterEach
    void deleteAll() {
        stopNode();
        admin.pods().inNamespace(restricted).withGracePeriod(0).delete();
        admin.apps().replicaSets().inNamespace(restricted).delete();
        admin.apps().deployments().inNamespace(restricted).delete();
        admin.pods().inNamespace(privileged).withGracePeriod(0).delete();
        admin.nodes().withName(node).delete();
        own.close();
        admin.close();
    }

    @Override
    protected KubernetesClient admin() {
        return admin;
    }

    @Override
    protected KubernetesClient ofNode() {
        return own;
    }

    @Override
    protected String node() {
        return node;
    }

    @Override
    protected String restricted() {
        return restricted;
    }

    @Override
    protected String privileged() {
        return privileged;
    }
}
