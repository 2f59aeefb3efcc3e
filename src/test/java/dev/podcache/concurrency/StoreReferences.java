package dev.podcache.concurrency;

import dev.podcache.object.PodKey;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Secret;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** References to each object are a multiset, and the store has an entry exactly while it is not empty. */
@Param(name = "key", gen = IntGen.class, conf = "1:2")
@Param(name = "pod", gen = IntGen.class, conf = "1:2")
public abstract class StoreReferences {

    private final Store<Secret> store;

    StoreReferences(Store<Secret> store) {
        this.store = store;
    }

    @Operation
    public void add(@Param(name = "key") int key, @Param(name = "pod") int pod) {
        store.addReference(SharedSecret.key(key), pod(pod));
    }

    @Operation
    public void delete(@Param(name = "key") int key, @Param(name = "pod") int pod) {
        store.deleteReference(SharedSecret.key(key), pod(pod));
    }

    @Operation
    public int references(@Param(name = "key") int key) {
        return store.state(SharedSecret.key(key)).references();
    }

    private static PodKey pod(int number) {
        return PodKey.of("default", "pod", "uid-" + number);
    }
}
