package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Objects;

/** Caches nothing: each read is a GET by fabric8's client. */
final class GetContestant implements Contestant {

    private final KubernetesClient client;

    /**
     * Sends nothing yet.
     *
     * @param client closed with it
     */
    GetContestant(KubernetesClient client) {
        this.client = client;
    }

    @Override
    public void follow(List<Pod> pods, List<String> names) {
        // one, so that the connection is open
        read(names.get(0));
    }

    @Override
    public Secret firstGet(Pod pod, String name) {
        return read(name);
    }

    @Override
    public Secret read(String name) {
        Secret found = client.secrets()
                .inNamespace(ScaleCluster.NAMESPACE)
                .withName(name)
                .get();
        return Objects.requireNonNull(found, name);
    }

    @Override
    public void close() {
        client.close();
    }
}
