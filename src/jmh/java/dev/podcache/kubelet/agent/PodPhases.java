package dev.podcache.kubelet.agent;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Watches which pods of a namespace run, as the API server has it. */
final class PodPhases implements Watcher<Pod>, AutoCloseable {

    private final Set<String> running = ConcurrentHashMap.newKeySet();
    private final KubernetesClient client;
    private final String namespace;
    private volatile Watch watch = () -> {};

    private PodPhases(KubernetesClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    static PodPhases of(KubernetesClient client, String namespace) {
        PodPhases phases = new PodPhases(client, namespace);
        phases.watch = client.pods().inNamespace(namespace).watch(phases);
        return phases;
    }

    boolean isRunning(String pod) {
        return running.contains(pod);
    }

    @Override
    public void eventReceived(Action action, Pod pod) {
        if (pod.getStatus() != null && "Running".equals(pod.getStatus().getPhase())) {
            running.add(pod.getMetadata().getName());
        }
    }

    @Override
    public void onClose(WatcherException cause) {
        // the server ends a watch at times
        watch = client.pods().inNamespace(namespace).watch(this);
    }

    @Override
    public void close() {
        watch.close();
    }
}
