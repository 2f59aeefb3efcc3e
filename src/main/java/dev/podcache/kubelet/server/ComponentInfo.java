package dev.podcache.kubelet.server;

import dev.podcache.manager.ObjectEntry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a component of Kubernetes tells about itself. Immutable. The suppliers are called for each request that needs
 * them, by several threads; they may take locks, but must not wait for the network.
 *
 * @param name shown by {@code /statusz} and {@code /flagz}, such as {@code podcache}
 * @param version of the program, such as {@code 0.1.0}
 * @param live the checks of {@code /livez} and {@code /healthz}: whether the process must be restarted. They must not
 *     fail because another process does not answer
 * @param ready the checks of {@code /readyz}: whether the component does its work
 * @param metrics {@code /metrics}, in the text format of Prometheus; empty if there are none, and then the answer is 404
 * @param configuration {@code /configz}: the values in effect by configuration and field. Must contain nothing secret
 * @param flags {@code /flagz}: the value of each flag by its name without hyphens. Must contain nothing secret
 * @param objects {@code /debug/objects}, see {@link #withObjects}; empty if nothing is cached, and then the answer is 404
 */
public record ComponentInfo(
        String name,
        String version,
        List<HealthCheck> live,
        List<HealthCheck> ready,
        Optional<Supplier<String>> metrics,
        Supplier<? extends Map<String, ?>> configuration,
        Supplier<? extends Map<String, String>> flags,
        Optional<Supplier<? extends Map<String, ?>>> objects) {

    /** Copies the lists. */
    public ComponentInfo {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(version, "version");
        live = List.copyOf(live);
        ready = List.copyOf(ready);
    }

    /** Returns a component without checks, metrics, configuration, flags and objects. */
    public static ComponentInfo of(String name, String version) {
        return new ComponentInfo(
                name, version, List.of(), List.of(), Optional.empty(), Map::of, Map::of, Optional.empty());
    }

    /** Returns a copy with these checks. Each page also has the check {@code ping}, which always passes. */
    public ComponentInfo withChecks(List<HealthCheck> newLive, List<HealthCheck> newReady) {
        return new ComponentInfo(name, version, newLive, newReady, metrics, configuration, flags, objects);
    }

    /** Returns a copy with these metrics. */
    public ComponentInfo withMetrics(Supplier<String> newMetrics) {
        return new ComponentInfo(name, version, live, ready, Optional.of(newMetrics), configuration, flags, objects);
    }

    /** Returns a copy with this configuration. */
    public ComponentInfo withConfiguration(Supplier<? extends Map<String, ?>> newConfiguration) {
        return new ComponentInfo(name, version, live, ready, metrics, newConfiguration, flags, objects);
    }

    /** Returns a copy with these flags. */
    public ComponentInfo withFlags(Supplier<? extends Map<String, String>> newFlags) {
        return new ComponentInfo(name, version, live, ready, metrics, configuration, newFlags, objects);
    }

    /**
     * Returns a copy that shows cached objects: their names and states, never their contents.
     *
     * @param node the name of the node that caches them
     * @param entries such as {@code Podcache::entries}
     */
    public ComponentInfo withObjects(String node, Supplier<List<ObjectEntry>> entries) {
        Objects.requireNonNull(node, "node");
        Objects.requireNonNull(entries, "entries");
        Supplier<Map<String, Object>> shown = () -> DebugObjects.of(node, entries.get());
        return new ComponentInfo(name, version, live, ready, metrics, configuration, flags, Optional.of(shown));
    }
}
