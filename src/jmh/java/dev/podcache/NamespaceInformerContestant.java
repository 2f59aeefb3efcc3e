package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.Objects;

/** One fabric8 informer on the namespace, which holds every Secret in it. */
final class NamespaceInformerContestant implements Contestant {

    private final KubernetesClient client;
    private SharedIndexInformer<Secret> informer;

    /**
     * Has no informer yet.
     *
     * @param client closed with it
     */
    NamespaceInformerContestant(KubernetesClient client) {
        this.client = client;
    }

    @Override
    public void follow(List<Pod> pods, List<String> names) {
        informer = client.secrets().inNamespace(ScaleCluster.NAMESPACE).inform();
        names.forEach(this::read);
    }

    @Override
    public Secret firstGet(Pod pod, String name) {
        return read(name);
    }

    @Override
    public Secret read(String name) {
        Secret held = informer.getStore().getByKey(ScaleCluster.NAMESPACE + "/" + name);
        return Objects.requireNonNull(held, name);
    }

    @Override
    public void close() {
        informer.close();
        client.close();
    }
}
