package dev.podcache.josdk;

import dev.podcache.Podcache;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import io.fabric8.kubernetes.api.model.Secret;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** The same secondary resources from two event sources. */
final class WebsiteSecrets {

    private static final String BY_SECRET = "by-secret";

    private WebsiteSecrets() {}

    /** From Podcache: one function says what a website names. */
    static EventSource<Secret, Website> ofPodcache(EventSourceContext<Website> context, Podcache cache) {
        return PodcacheEventSource.of(
                context,
                cache,
                ObjectKind.SECRET,
                website -> website.getSpec().secrets().stream()
                        .map(name -> ObjectRef.of(
                                ObjectKind.SECRET, website.getMetadata().getNamespace(), name))
                        .collect(Collectors.toSet()));
    }

    /** From an informer on all Secrets of all namespaces: an index of the websites, and a mapper for each direction. */
    static EventSource<Secret, Website> ofInformer(
            EventSourceContext<Website> context,
            UnaryOperator<InformerEventSourceConfiguration.Builder<Secret>> configure) {
        context.getPrimaryCache()
                .addIndexer(
                        BY_SECRET,
                        website -> website.getSpec().secrets().stream()
                                .map(name -> website.getMetadata().getNamespace() + "/" + name)
                                .toList());
        return new InformerEventSource<>(
                configure
                        .apply(InformerEventSourceConfiguration.from(Secret.class, Website.class)
                                .withWatchAllNamespaces()
                                .withSecondaryToPrimaryMapper(secret -> websitesOf(context, secret))
                                .withPrimaryToSecondaryMapper(WebsiteSecrets::secretsOf))
                        .build(),
                context);
    }

    private static Set<ResourceID> websitesOf(EventSourceContext<Website> context, Secret secret) {
        String path =
                secret.getMetadata().getNamespace() + "/" + secret.getMetadata().getName();
        return context.getPrimaryCache().byIndex(BY_SECRET, path).stream()
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }

    private static Set<ResourceID> secretsOf(Website website) {
        return website.getSpec().secrets().stream()
                .map(name -> new ResourceID(name, website.getMetadata().getNamespace()))
                .collect(Collectors.toSet());
    }
}
