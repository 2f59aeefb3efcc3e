package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.agent.NodeAgent;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Reports changes of the agent's Node and Lease. Used by one thread. */
final class NodeReports {

    private final EventWriter events;
    private final String node;
    private final Duration maxLeaseAge;
    private final Map<String, String> reported = new HashMap<>();

    /** @param leaseDuration the lease is late if it is not renewed for half of it */
    NodeReports(EventWriter events, String node, Duration leaseDuration) {
        this.events = events;
        this.node = node;
        this.maxLeaseAge = leaseDuration.dividedBy(2);
    }

    /** Reports what changed since the last call. */
    void report(NodeAgent agent) {
        report("registration", agent.status().registered() ? "registered" : "", "Node " + node);
        String problem = agent.status().problem().orElse("");
        report("problem", problem.isEmpty() ? "" : "node-problem", problem);
        agent.node().ifPresent(this::reportReady);
        agent.sinceRenewal().ifPresent(age -> {
            boolean late = age.compareTo(maxLeaseAge) >= 0;
            report("lease", late ? "lease-late" : "lease", "of " + node + (late ? " is not renewed" : " is renewed"));
        });
    }

    private void reportReady(Node seen) {
        if (seen.getStatus() != null) {
            seen.getStatus().getConditions().stream()
                    .filter(condition -> "Ready".equals(condition.getType()))
                    .forEach(ready -> report(
                            "ready",
                            "True".equals(ready.getStatus()) ? "node-ready" : "node-unready",
                            "Node " + node + ": " + ready.getMessage()));
        }
    }

    /** Writes an event if it differs from the last one of its topic. An event without a name is only remembered. */
    private void report(String topic, String name, String text) {
        if (!(name + text).equals(reported.put(topic, name + text)) && !name.isEmpty()) {
            events.write(new ProgramEvent(name, text, ImmutableMap.of("node", node, "message", text)));
        }
    }
}
