package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** A fabric8 informer for each object, all of them started at once, which is faster than one after the other. */
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
        CompletableFuture<?>[] started = names.stream()
                .map(name -> informer(name).start().toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(started).join();
        names.forEach(this::read);
    }

    private SharedIndexInformer<Secret> informer(String name) {
        SharedIndexInformer<Secret> informer = client.secrets()
                .inNamespace(ScaleCluster.NAMESPACE)
                .withName(name)
                .runnableInformer(0);
        informers.put(name, informer);
        return informer;
    }

    @Override
    public Secret firstGet(Pod pod, String name) {
        informers.put(
                name,
                client.secrets()
                        .inNamespace(ScaleCluster.NAMESPACE)
                        .withName(name)
                        .inform());
        return read(name);
    }

    @Override
    public Secret read(String name) {
        Secret held = informers.get(name).getStore().getByKey(ScaleCluster.NAMESPACE + "/" + name);
        return Objects.requireNonNull(held, name);
    }

    @Override
    public void close() {
        informers.values().forEach(SharedIndexInformer::close);
        client.close();
    }
}
