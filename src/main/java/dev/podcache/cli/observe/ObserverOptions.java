package dev.podcache.cli.observe;

import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.ObjectCaching;
import java.time.Duration;

/**
 * How an agent works.
 *
 * @param node whose pods it registers
 * @param caching what it keeps of their objects, and how often it reads them
 * @param progressPeriod how often it tells how much it read
 */
public record ObserverOptions(String node, ObjectCaching caching, Duration progressPeriod) {

    private static final Duration LEAST_PROGRESS = Duration.ofSeconds(10);

    /** As configured for a node. */
    static ObserverOptions of(String node, KubeletConfiguration configuration) {
        Duration sync = configuration.caching().syncFrequency();
        return new ObserverOptions(
                node, configuration.caching(), sync.compareTo(LEAST_PROGRESS) > 0 ? sync : LEAST_PROGRESS);
    }
}
