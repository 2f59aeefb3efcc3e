package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Sets how fast nodes are tainted, by how many nodes of each zone are Ready. Used by tasks of the cache's loop only.
 */
final class Disruption {

    private static final Logger log = LoggerFactory.getLogger(NodeLifecycleController.class);

    private final ClusterCache cache;
    private final NoExecuteTaints taints;
    private final NodeLifecycleOptions options;
    private final Map<String, ZoneState> states = new HashMap<>();

    Disruption(ClusterCache cache, NoExecuteTaints taints, NodeLifecycleOptions options) {
        this.cache = cache;
        this.taints = taints;
        this.options = options;
    }

    /**
     * Acts on the counts of a pass.
     *
     * @param counts the zones that have nodes
     * @return what changes; after {@link DisruptionMode#RESUME} the caller gives all nodes a new grace period
     */
    DisruptionMode apply(Map<String, ZoneCount> counts) {
        forgetZonesWithoutNodes(counts);
        counts.keySet().forEach(zone -> states.putIfAbsent(zone, ZoneState.INITIAL));
        DisruptionMode mode = DisruptionMode.of(
                states.values(), counts.values().stream().map(this::stateOf).toList());
        switch (mode) {
            case STOP -> stop(counts);
            case RESUME -> {
                log.info("some nodes are Ready again; nodes that are not Ready are tainted again");
                counts.forEach(this::enter);
            }
            case BY_ZONE ->
                counts.forEach((zone, count) -> {
                    if (states.get(zone) != stateOf(count)) {
                        enter(zone, count);
                    }
                });
            // a taint that was on its way, or whose removal failed
            case STAY_STOPPED -> cache.nodes().forEach(taints::clear);
        }
        return mode;
    }

    private void forgetZonesWithoutNodes(Map<String, ZoneCount> counts) {
        states.keySet().removeIf(zone -> {
            boolean empty = !counts.containsKey(zone);
            if (empty) {
                taints.removeZone(zone);
            }
            return empty;
        });
    }

    private void stop(Map<String, ZoneCount> counts) {
        boolean isNew = states.values().stream().allMatch(state -> state == ZoneState.INITIAL);
        log.atLevel(isNew ? Level.INFO : Level.WARN)
                .log("no node of the cluster is Ready: no pod is evicted until one is");
        cache.nodes().forEach(taints::clear);
        counts.keySet().forEach(zone -> {
            taints.setRate(zone, 0);
            states.put(zone, ZoneState.FULL_DISRUPTION);
        });
    }

    private ZoneState stateOf(ZoneCount count) {
        return count.state(options.unhealthyZoneThreshold());
    }

    private void enter(String zone, ZoneCount count) {
        ZoneState state = stateOf(count);
        double rate = options.evictionRate(state, count.size());
        if (states.get(zone) != ZoneState.INITIAL || state != ZoneState.NORMAL) {
            log.info("zone \"{}\" is now in state {}: up to {} nodes a second are tainted", zone, state, rate);
        }
        taints.setRate(zone, rate);
        states.put(zone, state);
    }
}
