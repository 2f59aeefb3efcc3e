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
import java.util.concurrent.CompletableFuture;

/** A fabric8 informer for each object. */
final class InformerContestant implements Contestant {

    private final KubernetesClient client;
    private final Start start;
    private final Map<String, SharedIndexInformer<Secret>> informers = new HashMap<>();

    /** When an informer is started. */
    enum Start {
        /** When the one before has synced, as {@code inform()} does. */
        IN_SEQUENCE,
        /** At once; all are waited for at the end. */
        TOGETHER
    }

    /**
     * Has no informers yet.
     *
     * @param client closed with them
     */
    InformerContestant(KubernetesClient client, Start start) {
        this.client = client;
        this.start = start;
    }

    @Override
    public void follow(List<Pod> pods, List<String> names) {
        switch (start) {
            case IN_SEQUENCE ->
                names.forEach(name -> informers.put(name, named(name).inform()));
            case TOGETHER -> startTogether(names);
        }
        names.forEach(this::read);
    }

    private void startTogether(List<String> names) {
        names.forEach(name -> informers.put(name, named(name).runnableInformer(0)));
        CompletableFuture<?>[] started = informers.values().stream()
                .map(informer -> informer.start().toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(started).join();
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
