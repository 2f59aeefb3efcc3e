package dev.podcache.micrometer;

import com.google.common.base.Suppliers;
import com.google.common.collect.ImmutableList;
import dev.podcache.kubelet.agent.NodeAgent;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Returns metrics in the text format of Prometheus, version 0.0.4. The registry is created by the first scrape, so that a
 * process that nobody scrapes pays nothing; what it shows was counted before. Thread-safe.
 *
 * <p>Needs {@code io.micrometer:micrometer-registry-prometheus}. To show the same meters in a registry of your own, bind
 * {@link PodcacheMeterBinder} and {@link NodeMeterBinder} to it.
 */
public final class PrometheusScrape implements Supplier<String> {

    private final Supplier<PrometheusMeterRegistry> registry;

    /**
     * Creates a scrape.
     *
     * @param binders called by the first scrape, under a lock that other scrapes wait for. If it throws, the next
     *     scrape calls it again
     */
    public PrometheusScrape(Supplier<List<MeterBinder>> binders) {
        Objects.requireNonNull(binders, "binders");
        this.registry = Suppliers.memoize(() -> registry(binders.get()));
    }

    /** Returns a scrape of an agent, its caches and the JVM; for {@code NodeAgentBuilder.scrape}. */
    public static PrometheusScrape ofNode(NodeAgent agent) {
        return ofNode(agent, List.of());
    }

    /** Returns a scrape as {@link #ofNode(NodeAgent)}, with further meters. */
    public static PrometheusScrape ofNode(NodeAgent agent, List<MeterBinder> further) {
        List<MeterBinder> added = List.copyOf(further);
        return new PrometheusScrape(() -> ImmutableList.<MeterBinder>builder()
                .add(new PodcacheMeterBinder(agent.caches(), "podcache", Tags.empty()))
                .add(new NodeMeterBinder(agent, Tags.empty()))
                .addAll(added)
                .addAll(jvm())
                .build());
    }

    /** Returns the meters of the JVM that cost nothing between scrapes: memory, threads, processor, uptime. */
    public static List<MeterBinder> jvm() {
        return List.of(new JvmMemoryMetrics(), new JvmThreadMetrics(), new ProcessorMetrics(), new UptimeMetrics());
    }

    /** Returns the current values. */
    @Override
    public String get() {
        return registry.get().scrape();
    }

    private static PrometheusMeterRegistry registry(List<MeterBinder> binders) {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        binders.forEach(binder -> binder.bindTo(registry));
        return registry;
    }
}
