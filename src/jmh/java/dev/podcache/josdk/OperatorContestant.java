package dev.podcache.josdk;

import dev.podcache.Podcache;
import dev.podcache.PodcacheBuilder;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Where the operator that {@link OperatorRun} measures gets its Secrets, and what it must be allowed for that. */
enum OperatorContestant {
    /** The operator without any Secret: what all others cost too. */
    NO_SECRETS("none", "", Access.NONE) {
        @Override
        EventSource<Secret, Website> open(EventSourceContext<Website> context, KubernetesClient client) {
            return new NoEvents();
        }
    },
    /** Podcache, a watch for each Secret. */
    PODCACHE_OBJECT("`PodcacheEventSource`", "`list`, `watch` by name", Access.BY_NAME) {
        @Override
        EventSource<Secret, Website> open(EventSourceContext<Website> context, KubernetesClient client) {
            return podcache(context, client, UnaryOperator.identity());
        }
    },
    /** Podcache, a watch for each namespace. */
    PODCACHE_NAMESPACE(
            "`PodcacheEventSource`, scope `NAMESPACE`", "`list`, `watch` on the namespaces", Access.NAMESPACES) {
        @Override
        EventSource<Secret, Website> open(EventSourceContext<Website> context, KubernetesClient client) {
            return podcache(context, client, cache -> cache.scope(ObjectKind.SECRET, WatchScope.NAMESPACE));
        }
    },
    /** java-operator-sdk's informer. */
    INFORMER("`InformerEventSource`", "`list`, `watch` on all Secrets", Access.CLUSTER) {
        @Override
        EventSource<Secret, Website> open(EventSourceContext<Website> context, KubernetesClient client) {
            return WebsiteSecrets.ofInformer(context, UnaryOperator.identity());
        }
    },
    /** java-operator-sdk's informer on the Secrets that somebody has labelled. */
    INFORMER_LABEL("`InformerEventSource`, label selector", "`list`, `watch` on all Secrets", Access.CLUSTER) {
        @Override
        EventSource<Secret, Website> open(EventSourceContext<Website> context, KubernetesClient client) {
            return WebsiteSecrets.ofInformer(
                    context, configuration -> configuration.withLabelSelector(WebsiteCluster.LABEL + "=true"));
        }
    };

    /** What RBAC grants. */
    enum Access {
        NONE,
        /** The referenced Secrets, each by its name. */
        BY_NAME,
        /** All Secrets of the namespaces. */
        NAMESPACES,
        /** All Secrets of the cluster. */
        CLUSTER
    }

    final String label;
    final String verbs;
    final Access access;

    OperatorContestant(String label, String verbs, Access access) {
        this.label = label;
        this.verbs = verbs;
        this.access = access;
    }

    abstract EventSource<Secret, Website> open(EventSourceContext<Website> context, KubernetesClient client);

    static EventSource<Secret, Website> podcache(
            EventSourceContext<Website> context, KubernetesClient client, UnaryOperator<PodcacheBuilder> settings) {
        // open until the process ends
        Podcache cache = settings.apply(Podcache.builder(client)).build();
        return WebsiteSecrets.ofPodcache(context, cache);
    }

    /** No secondary resources. */
    private static final class NoEvents extends AbstractEventSource<Secret, Website> {

        NoEvents() {
            super(Secret.class, "none");
        }

        @Override
        public Set<Secret> getSecondaryResources(Website website) {
            return Set.of();
        }
    }
}
