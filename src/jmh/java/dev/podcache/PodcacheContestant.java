package dev.podcache;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;

/**
 * {@link Podcache} itself, with all defaults but the patience of the first get, which would end
 * a measurement that is too slow.
 */
final class PodcacheContestant implements Contestant {

    private final KubernetesClient client;
    private final Podcache cache;

    /**
     * Makes the cache.
     *
     * @param client closed with it
     * @param scope of Secrets under WATCH
     */
    PodcacheContestant(KubernetesClient client, ChangeDetectionStrategy strategy, WatchScope scope) {
        this.client = client;
        this.cache = Podcache.builder(client)
                .strategy(strategy)
                .scope(ObjectKind.SECRET, scope)
                .firstSyncTimeout(Duration.ofMinutes(1))
                .readTimeout(Duration.ofMinutes(1))
                .build();
    }

    @Override
    public void follow(List<Pod> pods, List<String> names) {
        pods.forEach(cache::registerPod);
        names.forEach(this::read);
    }

    @Override
    public Secret firstGet(Pod pod, String name) {
        cache.registerPod(pod);
        return read(name);
    }

    @Override
    public Secret read(String name) {
        return cache.secrets().getObject(ScaleCluster.NAMESPACE, name);
    }

    @Override
    public void close() {
        cache.close();
        client.close();
    }
}
