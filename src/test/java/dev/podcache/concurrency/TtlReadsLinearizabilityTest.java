package dev.podcache.concurrency;

import dev.podcache.object.PodKey;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/**
 * With a TTL of 0 a get is as good as asking the server: gets that share a fetch still see every write
 * that was over before they began.
 */
public class TtlReadsLinearizabilityTest {

    private final AtomicInteger written = new AtomicInteger(1);
    private final TtlObjectStore<Secret> store = SharedSecret.ttlStore(0, written::get);

    public TtlReadsLinearizabilityTest() {
        store.addReference(SharedSecret.KEY, PodKey.of("default", "pod", "uid"));
    }

    @Operation
    public int write() {
        return written.incrementAndGet();
    }

    @Operation
    public String get() {
        return Secrets.value(store.get(SharedSecret.KEY.namespace(), SharedSecret.KEY.name()));
    }

    /** A second reference forgets what is known, and detaches the fetch under way. */
    @Operation
    public void refer() {
        store.addReference(SharedSecret.KEY, PodKey.of("default", "pod", "uid"));
    }

    @Test
    void getsAndWrites_areLinearizable() {
        Linearizability.check(TtlReadsLinearizabilityTest.class);
    }
}
