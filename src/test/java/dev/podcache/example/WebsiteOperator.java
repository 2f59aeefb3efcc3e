package dev.podcache.example;

import dev.podcache.Podcache;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An operator for a custom resource {@code Website}, which names a Secret with a certificate. The operator's identity may
 * read no Secret by itself: {@code podcache grants} lets it read those that the Websites of its namespace name, from the
 * moment when they name them. It writes into the status of each Website which version of its Secret is in use, or why none
 * is.
 */
public final class WebsiteOperator implements AutoCloseable {

    static final ResourceDefinitionContext WEBSITES = new ResourceDefinitionContext.Builder()
            .withGroup("example.dev")
            .withVersion("v1")
            .withKind("Website")
            .withPlural("websites")
            .withNamespaced(true)
            .build();

    private static final long PAUSE_SECONDS = 5;

    private final KubernetesClient client;
    private final Podcache podcache;
    private final ScheduledExecutorService work = Executors.newSingleThreadScheduledExecutor();
    private final Set<String> waiting = new HashSet<>(); // Websites to look at again; used by the thread of `work`
    private final AutoCloseable subscription;
    private final SharedIndexInformer<GenericKubernetesResource> websites;

    /**
     * Starts the operator.
     *
     * @param client not closed with the operator
     * @param namespace whose Websites it serves
     */
    public WebsiteOperator(KubernetesClient client, String namespace) {
        this.client = client;
        this.podcache = Podcache.builder(client).grantsFollow().build();
        this.websites = client.genericKubernetesResources(WEBSITES)
                .inNamespace(namespace)
                .runnableInformer(0);
        websites.addEventHandler(new ResourceEventHandler<>() {
            @Override
            public void onAdd(GenericKubernetesResource website) {
                later(() -> reconcile(website));
            }

            @Override
            public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource website) {
                later(() -> reconcile(website));
            }

            @Override
            public void onDelete(GenericKubernetesResource website, boolean unknown) {
                later(() -> podcache.unregister(Referrer.of(website)));
            }
        });
        // a Secret that is granted, created, changed or deleted reconciles its Websites
        this.subscription = podcache.secrets().listen(work, this::changed);
        // last: it returns when all Websites are known, and events come before that
        websites.run();
    }

    private void changed(ObjectEvent<Secret> event) {
        for (Referrer owner : event.referrers()) {
            reconcileNow(owner.namespace() + "/" + owner.name());
        }
    }

    /** Reconciles a Website as it is now, unless it is gone. */
    private void reconcileNow(String key) {
        GenericKubernetesResource website = websites.getStore().getByKey(key);
        if (website != null) {
            reconcile(website);
        }
    }

    /** Never blocks: whatever changes later is an event, or is found by looking again. */
    private void reconcile(GenericKubernetesResource website) {
        String namespace = website.getMetadata().getNamespace();
        String secret = website.get("spec", "tls", "secretName");
        podcache.register(
                Referrer.of(website),
                secret == null ? Set.of() : Set.of(ObjectRef.of(ObjectKind.SECRET, namespace, secret)));
        if (secret == null) {
            show(website, "no Secret is named");
            return;
        }
        // waits for access at most for the first-sync timeout; what is granted later is an event
        podcache.secrets()
                .getObjectAsync(namespace, secret)
                .whenComplete((found, failure) -> later(() -> {
                    if (failure instanceof NotSynced) {
                        lookAgain(namespace + "/" + website.getMetadata().getName());
                    }
                    show(website, state(found, failure));
                }));
    }

    /** Reconciles a Website again after a while: there is no event if access comes to a Secret that does not exist. */
    private void lookAgain(String key) {
        if (waiting.add(key)) {
            work.schedule(
                    () -> later(() -> {
                        waiting.remove(key);
                        reconcileNow(key);
                    }),
                    PAUSE_SECONDS,
                    TimeUnit.SECONDS);
        }
    }

    private static String state(@Nullable Secret found, @Nullable Throwable failure) {
        if (found != null) {
            return "uses version " + found.getMetadata().getResourceVersion();
        }
        // the messages of Podcache never have contents
        return failure instanceof ObjectUnavailableException known ? String.valueOf(known.getMessage()) : "failed";
    }

    private void show(GenericKubernetesResource website, String state) {
        if (state.equals(website.get("status", "state"))) {
            return;
        }
        client.genericKubernetesResources(WEBSITES)
                .inNamespace(website.getMetadata().getNamespace())
                .withName(website.getMetadata().getName())
                .editStatus(latest -> {
                    latest.setAdditionalProperty("status", Map.of("state", state));
                    return latest;
                });
    }

    private void later(Runnable task) {
        try {
            work.execute(() -> {
                try {
                    task.run();
                } catch (RuntimeException e) {
                    // such as a Website that is gone; its next event reconciles it
                    System.err.println("website-operator: " + e.getMessage());
                }
            });
        } catch (RejectedExecutionException e) {
            // the operator ends
        }
    }

    @Override
    public void close() {
        websites.close();
        try {
            subscription.close();
        } catch (Exception e) {
            throw new IllegalStateException("the subscription could not be closed", e);
        }
        podcache.close();
        work.shutdownNow();
    }
}
