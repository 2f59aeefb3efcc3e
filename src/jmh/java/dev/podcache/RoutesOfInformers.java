package dev.podcache;

import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A fabric8 informer for each Secret, which is what a router has by hand. It asks nobody whether a subject may read it. */
final class RoutesOfInformers implements RouteContestant {

    private final KubernetesClient client;
    private final InformerContestant.Start start;
    private final Map<Route, SharedIndexInformer<Secret>> informers = new HashMap<>();

    /** Makes a contestant that closes {@code client} when it is closed. */
    RoutesOfInformers(KubernetesClient client, InformerContestant.Start start) {
        this.client = client;
        this.start = start;
    }

    @Override
    public void start(List<Route> routes) {
        if (start == InformerContestant.Start.IN_SEQUENCE) {
            routes.forEach(route -> informers.put(
                    route,
                    client.secrets()
                            .inNamespace(route.namespace())
                            .withName(route.name())
                            .inform()));
            return;
        }
        routes.forEach(route -> informers.put(
                route,
                client.secrets()
                        .inNamespace(route.namespace())
                        .withName(route.name())
                        .runnableInformer(0)));
        CompletableFuture.allOf(informers.values().stream()
                        .map(informer -> informer.start().toCompletableFuture())
                        .toArray(CompletableFuture<?>[]::new))
                .join();
    }

    @Override
    public String shown(Route route) {
        Secret held = informers.get(route).getStore().getByKey(route.namespace() + "/" + route.name());
        return held == null ? ABSENT : Secrets.value(held);
    }

    @Override
    public void close() {
        informers.values().forEach(SharedIndexInformer::close);
        client.close();
    }
}
