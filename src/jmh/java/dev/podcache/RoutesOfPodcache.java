package dev.podcache;

import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** {@link Podcache}, each Secret read for its route, on behalf of the router's ServiceAccount in the route's namespace. */
final class RoutesOfPodcache implements RouteContestant {

    private final KubernetesClient client;
    private final Podcache cache;

    /** Makes a contestant that closes {@code client} when it is closed. */
    RoutesOfPodcache(KubernetesClient client, WatchScope scope) {
        this.client = client;
        this.cache = Podcache.builder(client)
                .scope(ObjectKind.SECRET, scope)
                .firstSyncTimeout(Duration.ofMinutes(2))
                .watchRbac()
                .build();
    }

    private static Referrer owner(Route route) {
        return Referrer.of(new PodBuilder()
                        .withMetadata(new ObjectMetaBuilder()
                                .withNamespace(route.namespace())
                                .withName(route.name())
                                .withUid("uid-" + route.namespace() + "-" + route.name())
                                .build())
                        .build())
                .onBehalfOf(Subject.serviceAccount(route.namespace(), OpenRouteRun.ACCOUNT));
    }

    @Override
    public void start(List<Route> routes) {
        for (Route route : routes) {
            cache.register(owner(route), Set.of(ObjectRef.of(ObjectKind.SECRET, route.namespace(), route.name())));
        }
        CompletableFuture.allOf(routes.stream().map(this::read).toArray(CompletableFuture<?>[]::new))
                .join();
    }

    /** A read fails if its review takes too long, because others are made before it: then it is made again. */
    private CompletableFuture<Secret> read(Route route) {
        return cache.secrets()
                .getObjectAsync(owner(route), route.namespace(), route.name())
                .exceptionallyCompose(failure -> failure instanceof Denied || failure.getCause() instanceof Denied
                        ? read(route)
                        : CompletableFuture.failedFuture(failure));
    }

    @Override
    public String shown(Route route) {
        try {
            return Secrets.value(cache.secrets().getObject(owner(route), route.namespace(), route.name()));
        } catch (NotFound e) {
            return ABSENT;
        } catch (Denied e) {
            return DENIED;
        } catch (ObjectUnavailableException e) {
            return e.getClass().getSimpleName();
        }
    }

    @Override
    public void close() {
        cache.close();
        client.close();
    }
}
