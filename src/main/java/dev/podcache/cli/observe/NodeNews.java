package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Event;
import dev.podcache.kubelet.nodestatus.NodeStatusState;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Duration;
import java.util.Optional;

/** Tells what becomes of our Node: a line for each change. Used by one thread. */
final class NodeNews {

    private final Account account;
    private final String node;
    private final Duration leaseDuration;
    private boolean registered;
    private String ready = "";
    private String problem = "";
    private boolean renewed;

    /**
     * Nothing told yet.
     *
     * @param leaseDuration without a renewal for half of that the lease counts as late
     */
    NodeNews(Account account, String node, Duration leaseDuration) {
        this.account = account;
        this.node = node;
        this.leaseDuration = leaseDuration;
    }

    /**
     * So it is now.
     *
     * @param seen the Node as the API server shows it
     * @param sinceRenewal of the lease
     */
    void look(NodeStatusState state, Optional<Node> seen, Optional<Duration> sinceRenewal) {
        if (state.registered() && !registered) {
            tell("registered", "Node " + node, "");
        }
        registered = state.registered();
        String why = state.problem().orElse("");
        if (!why.isEmpty() && !why.equals(problem)) {
            tell("node-problem", why, why);
        }
        problem = why;
        seen.flatMap(NodeNews::readyCondition).ifPresent(this::looked);
        boolean inTime = sinceRenewal
                .map(since -> since.compareTo(leaseDuration.dividedBy(2)) < 0)
                .orElse(false);
        if (inTime && !renewed) {
            tell("lease", "of " + node + " is renewed", "");
        } else if (!inTime && renewed) {
            tell(
                    "lease-late",
                    "no renewal for " + sinceRenewal.orElse(Duration.ZERO).toSeconds() + " s",
                    "");
        }
        renewed = inTime;
    }

    private void looked(NodeCondition condition) {
        String now = condition.getStatus() + condition.getReason();
        if (!now.equals(ready)) {
            ready = now;
            boolean isReady = "True".equals(condition.getStatus());
            String message = String.valueOf(condition.getMessage());
            tell(isReady ? "node-ready" : "node-unready", "Node " + node + ": " + message, message);
        }
    }

    private static Optional<NodeCondition> readyCondition(Node node) {
        return node.getStatus() == null
                ? Optional.empty()
                : node.getStatus().getConditions().stream()
                        .filter(condition -> "Ready".equals(condition.getType()))
                        .findFirst();
    }

    private void tell(String name, String text, String message) {
        account.tell(new Event(name, text, ImmutableMap.of("node", node, "message", message)));
    }
}
