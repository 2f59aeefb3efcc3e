package dev.podcache.concurrency;

import dev.podcache.object.PodKey;
import dev.podcache.store.TtlObjectStore;
import io.fabric8.kubernetes.api.model.Secret;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** References to one object are a multiset, and the store has an entry exactly while it is not empty. */
@Param(name = "pod", gen = IntGen.class, conf = "1:2")
public class StoreReferencesLinearizabilityTest {

    private final TtlObjectStore<Secret> store = SharedSecret.store(Long.MAX_VALUE, () -> 1);

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

    @Test
    void addDeleteAndCount_areLinearizable() {
        new StressOptions()
                .iterations(10)
                .invocationsPerIteration(1000)
                .threads(3)
                .actorsPerThread(3)
                .check(StoreReferencesLinearizabilityTest.class);
    }
}
