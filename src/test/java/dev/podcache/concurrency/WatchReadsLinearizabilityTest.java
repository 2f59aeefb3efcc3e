package dev.podcache.concurrency;

import dev.podcache.object.PodKey;
import dev.podcache.store.Store;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Once a live watch has told of a change, every get that begins later sees it, whoever joins the watch or leaves it
 * meanwhile. A write here ends when it has been told; how long that takes with a real server, no get can know.
 */
@Param(name = "pod", gen = IntGen.class, conf = "1:2")
public class WatchReadsLinearizabilityTest {

    private final SharedSecret.WatchedServer server = new SharedSecret.WatchedServer();
    private final Store<Secret> store = server.store();

    public WatchReadsLinearizabilityTest() {
        store.addReference(SharedSecret.KEY, pod(0));
    }

    @Operation
    public int write() {
        int version = server.write();
        // a thread that is busy with the watch just then may take the event in a moment later
        while (isBehind(version)) {
            Thread.onSpinWait();
        }
        return version;
    }

    private boolean isBehind(int version) {
        String known = store.state(SharedSecret.KEY).resourceVersion();
        return known.isEmpty() || Integer.parseInt(known) < version;
    }

    @Operation
    public String get() {
        return Secrets.value(store.get(SharedSecret.KEY.namespace(), SharedSecret.KEY.name()));
    }

    @Operation
    public void join(@Param(name = "pod") int pod) {
        store.addReference(SharedSecret.KEY, pod(pod));
    }

    @Operation
    public void leave(@Param(name = "pod") int pod) {
        store.deleteReference(SharedSecret.KEY, pod(pod));
    }

    private static PodKey pod(int number) {
        return PodKey.of("default", "pod", "uid-" + number);
    }

    @Test
    void getsAndWrites_areLinearizable() {
        Linearizability.check(WatchReadsLinearizabilityTest.class);
    }
}
