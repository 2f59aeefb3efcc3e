package dev.podcache;

import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** The ways to follow Secrets of one namespace that {@link NamedWatchesRun} compares. */
enum WatchArrangement {
    /** Nobody follows anything. */
    NONE {
        @Override
        FollowedSecrets open(KubernetesClient client, HasMetadata namespace, List<String> names) {
            return new FollowedSecrets() {
                @Override
                public String version(String name) {
                    return "";
                }

                @Override
                public void close() {
                    client.close();
                }
            };
        }
    },
    /** Podcache, a watch for each Secret. */
    OBJECT {
        @Override
        FollowedSecrets open(KubernetesClient client, HasMetadata namespace, List<String> names) {
            return cached(client, WatchScope.OBJECT, namespace, names);
        }
    },
    /** Podcache, one watch for all of them. */
    NAMESPACE {
        @Override
        FollowedSecrets open(KubernetesClient client, HasMetadata namespace, List<String> names) {
            return cached(client, WatchScope.NAMESPACE, namespace, names);
        }
    },
    /** One fabric8 informer on the namespace. */
    INFORMER {
        @Override
        FollowedSecrets open(KubernetesClient client, HasMetadata namespace, List<String> names) {
            String in = namespace.getMetadata().getName();
            SharedIndexInformer<Secret> informer =
                    client.secrets().inNamespace(in).inform();
            return new FollowedSecrets() {
                @Override
                public String version(String name) {
                    return informer.getStore()
                            .getByKey(in + "/" + name)
                            .getMetadata()
                            .getResourceVersion();
                }

                @Override
                public void close() {
                    informer.close();
                    client.close();
                }
            };
        }
    };

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Secrets that are followed until this is closed, with the client that follows them. */
    interface FollowedSecrets extends AutoCloseable {

        /** Returns the resourceVersion that is known of a followed Secret; "" if nobody follows it. */
        String version(String name);

        @Override
        void close();
    }

    /**
     * Follows Secrets, and returns when all of them are known.
     *
     * @param client closed with what is returned
     * @param namespace as the server returned it
     */
    abstract FollowedSecrets open(KubernetesClient client, HasMetadata namespace, List<String> names);

    private static FollowedSecrets cached(
            KubernetesClient client, WatchScope scope, HasMetadata namespace, List<String> names) {
        String in = namespace.getMetadata().getName();
        Podcache cache = Podcache.builder(client)
                .scope(ObjectKind.SECRET, scope)
                .firstSyncTimeout(PATIENCE)
                .idleAfter(PATIENCE.multipliedBy(10))
                .build();
        cache.register(
                Referrer.of(namespace),
                names.stream()
                        .map(name -> ObjectRef.of(ObjectKind.SECRET, in, name))
                        .collect(Collectors.toSet()));
        int unread = cache.awaitSynced(PATIENCE).size();
        if (unread > 0) {
            throw new IllegalStateException(
                    unread + " of " + names.size() + " Secrets were not read within " + PATIENCE);
        }
        return new FollowedSecrets() {
            @Override
            public String version(String name) {
                return cache.secrets().getObject(in, name).getMetadata().getResourceVersion();
            }

            @Override
            public void close() {
                cache.close();
                client.close();
            }
        };
    }
}
