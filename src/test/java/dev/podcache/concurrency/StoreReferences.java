package dev.podcache.concurrency;

import dev.podcache.object.PodKey;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Secret;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/** References to one object are a multiset, and the store has an entry exactly while it is not empty. */
@Param(name = "pod", gen = IntGen.class, conf = "1:2")
public abstract class StoreReferences {

    private final Store<Secret> store;

    StoreReferences(Store<Secret> store) {
        this.store = store;
    }

    @Operation
    public void add(@Param(name = "pod") int pod) {
        store.addReference(SharedSecret.KEY, pod(pod));
    }

    @Operation
    public void delete(@Param(name = "pod") int pod) {
        store.deleteReference(SharedSecret.KEY, pod(pod));
    }

    @Operation
    public int references() {
        return store.state(SharedSecret.KEY).references();
    }

    private static PodKey pod(int number) {
        return PodKey.of("default", "pod", "uid-" + number);
    }
}
