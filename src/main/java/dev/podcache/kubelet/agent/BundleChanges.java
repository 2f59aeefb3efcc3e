package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.podconfig.TrustBundles;
import dev.podcache.kubelet.podsync.PodWorkers;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.function.Supplier;

/** Has the pods synced whose trust bundles have changed. Thread-safe. */
record BundleChanges(Supplier<PodWorkers> workers, ChangeDetectionStrategy strategy)
        implements TrustBundles.BundleEvents {

    @Override
    public void found(Manager<GenericKubernetesResource> named) {
        // under GET, each sync reads them
        if (strategy != ChangeDetectionStrategy.GET) {
            workers.get().follow(named);
        }
    }

    @Override
    public void changed(String podUid) {
        workers.get().changed(podUid);
    }
}
