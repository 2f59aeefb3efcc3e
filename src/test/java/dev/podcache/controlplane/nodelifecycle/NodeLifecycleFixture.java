package dev.podcache.controlplane.nodelifecycle;

import static dev.podcache.controlplane.cluster.TestNodes.status;
import static dev.podcache.controlplane.cluster.TestNodes.taints;

import dev.podcache.controlplane.cluster.MemoryCluster;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.ObjectReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The whole controller on hand-driven time, with a grace period of 40 s, for the tests that extend this class. */
abstract class NodeLifecycleFixture {

    static final NodeLifecycleOptions OPTIONS = NodeLifecycleOptions.DEFAULT.monitorGracePeriod(Duration.ofSeconds(40));

    final ManualTimekeeper timekeeper = new ManualTimekeeper();
    final MemoryCluster cluster = new MemoryCluster(timekeeper).quietUntilListed();
    final List<String> events = new ArrayList<>();
    final List<ObjectReference> subjects = new ArrayList<>(); // of the events
    final Set<String> alive = new TreeSet<>();

    final void start() {
        start(OPTIONS);
    }

    final void start(NodeLifecycleOptions options) {
        new NodeLifecycleController(
                        cluster.cache(),
                        cluster,
                        (about, type, reason, message) -> {
                            events.add(type + " " + reason + " " + message);
                            subjects.add(about);
                        },
                        options)
                .start();
        cluster.list();
    }

    /** Lets time pass, in which the nodes that are alive renew their Leases. */
    final void pass(long seconds) {
        for (long second = 0; second < seconds; second++) {
            if (second % 5 == 0) {
                alive.forEach(cluster::renew);
            }
            timekeeper.advance(Duration.ofSeconds(1));
        }
    }

    final String ready(String node) {
        return status(cluster.node(node), "Ready");
    }

    final boolean isEvicting(String node) {
        return taints(cluster.node(node)).stream().anyMatch(taint -> taint.endsWith(":NoExecute"));
    }
}
