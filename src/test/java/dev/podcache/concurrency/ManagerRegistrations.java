package dev.podcache.concurrency;

import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.Store;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/**
 * Registering and unregistering one pod at once leaves what one of the orders would have left, and never half of it;
 * and its object can be read exactly while it is registered.
 */
@Param(name = "version", gen = IntGen.class, conf = "1:2")
public abstract class ManagerRegistrations {

    private static final Pod WITH = Pods.at(Pods.withSecrets("default", "web", "uid", "a"), "1");
    private static final Pod WITHOUT = Pods.at(Pods.withSecrets("default", "web", "uid"), "2");

    private final Manager<Secret> manager;

    ManagerRegistrations(Store<Secret> store) {
        this.manager = Managers.caching(store, PodReferences::secretKeys);
    }

    /** Version 1 refers to the Secret, version 2 does not. */
    @Operation
    public void register(@Param(name = "version") int version) {
        manager.registerPod(pod(version));
    }

    @Operation
    public void unregister() {
        manager.unregisterPod(pod(1));
    }

    @Operation
    public int references() {
        return manager.state("default", "a").references();
    }

    @Operation
    public String get() {
        try {
            return Secrets.value(manager.getObject("default", "a"));
        } catch (NotRegistered e) {
            return "not registered";
        }
    }

    private static Pod pod(int version) {
        return version == 1 ? WITH : WITHOUT;
    }
}
