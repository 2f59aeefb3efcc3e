package dev.podcache.concurrency;

import dev.podcache.manager.Manager;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** Registering and unregistering one pod at once leaves what one of the orders would have left, and never half of it. */
@Param(name = "version", gen = IntGen.class, conf = "1:2")
public class ManagerLinearizabilityTest {

    private final TtlObjectStore<Secret> store = SharedSecret.store(Long.MAX_VALUE, () -> 1);
    private final Manager<Secret> manager = Manager.caching(store, PodReferences::secrets);

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

    private static Pod pod(int version) {
        return Pods.at(
                version == 1
                        ? Pods.withSecrets("default", "web", "uid", "a")
                        : Pods.withSecrets("default", "web", "uid"),
                "" + version);
    }

    @Test
    void registerAndUnregister_areLinearizable() {
        new StressOptions()
                .iterations(10)
                .invocationsPerIteration(1000)
                .threads(3)
                .actorsPerThread(3)
                .check(ManagerLinearizabilityTest.class);
    }
}
