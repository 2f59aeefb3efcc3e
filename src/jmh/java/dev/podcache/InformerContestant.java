package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A fabric8 informer for each object, one after the other as {@code inform()} makes them. Starting all at once takes
 * two connections each, and more time.
 */
final class InformerContestant implements Contestant {

    private final KubernetesClient client;
    private final Map<String, SharedIndexInformer<Secret>> informers = new HashMap<>();

    /**
     * No informers yet.
     *
     * @param client closed with them
     */
    InformerContestant(KubernetesClient client) {
        this.client = client;
    }

    @Override
    public void follow(List<Pod> pods, List<String> names) {
        names.forEach(name -> informers.put(name, named(name).inform()));
        names.forEach(this::read);
    }

    @Override
    public Secret firstGet(Pod pod, String name) {
        informers.put(name, named(name).inform());
        return read(name);
    }

    @Override
    public Secret read(String name) {
        Secret held = informers.get(name).getStore().getByKey(ScaleCluster.NAMESPACE + "/" + name);
        return Objects.requireNonNull(held, name);
    }

    private Resource<Secret> named(String name) {
        return client.secrets().inNamespace(ScaleCluster.NAMESPACE).withName(name);
    }

    @Override
    public void close() {
        informers.values().forEach(SharedIndexInformer::close);
        client.close();
    }
}
