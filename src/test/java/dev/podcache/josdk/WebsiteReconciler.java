package dev.podcache.josdk;

import io.fabric8.kubernetes.api.model.Secret;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Deploys websites with their Secrets; here, tells an observer what it would deploy. */
@ControllerConfiguration
final class WebsiteReconciler implements Reconciler<Website> {

    private final Function<EventSourceContext<Website>, EventSource<Secret, Website>> secrets;
    private final BiConsumer<Website, Set<Secret>> observer;

    /**
     * Makes a reconciler.
     *
     * @param secrets makes the event source of the Secrets
     * @param observer is told of each reconciliation, and of the Secrets as it found them
     */
    WebsiteReconciler(
            Function<EventSourceContext<Website>, EventSource<Secret, Website>> secrets,
            BiConsumer<Website, Set<Secret>> observer) {
        this.secrets = secrets;
        this.observer = observer;
    }

    @Override
    public List<EventSource<?, Website>> prepareEventSources(EventSourceContext<Website> context) {
        return List.of(secrets.apply(context));
    }

    @Override
    public UpdateControl<Website> reconcile(Website website, Context<Website> context) {
        observer.accept(website, context.getSecondaryResources(Secret.class));
        return UpdateControl.noUpdate();
    }
}
