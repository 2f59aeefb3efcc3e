package dev.podcache.access;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Follows owners as {@link Grants} does and writes nothing: no Role, no event, no Lease. Runs beside a controller, or beside
 * a broad Role. Thread-safe.
 *
 * @hidden
 */
@NotApi
public final class GrantsDryRun implements AutoCloseable {

    private final List<PolicyController> controllers;
    private final Map<String, Map<String, Set<ObjectRef>>> seen = new HashMap<>(); // guarded by this

    private GrantsDryRun(List<PolicyController> controllers) {
        this.controllers = controllers;
    }

    /**
     * What a policy would have granted so far.
     *
     * @param policy with the plurals of the server
     * @param names by namespace: each name that would have been granted at some time
     * @param incomplete the namespaces whose owners are not all known yet
     * @hidden
     */
    public record WouldGrant(RolePolicy policy, Map<String, Set<ObjectRef>> names, Set<String> incomplete) {}

    /**
     * Starts to follow the owners of policies. Returns at once.
     *
     * @param server not closed with this object
     */
    public static GrantsDryRun start(Fabric8ApiServer server, GrantPolicy policy, boolean clusterWide) {
        List<PolicyController> controllers = new ArrayList<>();
        for (RolePolicy role : policy.roles()) {
            controllers.add(new PolicyController(
                    role,
                    server,
                    new PolicyController.ControllerOptions(
                            clusterWide, policy.roles(), "podcache-grants-dry-run", null)));
        }
        controllers.forEach(PolicyController::start);
        return new GrantsDryRun(controllers);
    }

    /**
     * Looks at what would be granted now and returns what would have been granted so far, a value for each policy. Empty
     * while a policy is not known at the server. Returns at once.
     */
    public CompletableFuture<List<WouldGrant>> look() {
        List<CompletableFuture<PolicyController.@Nullable Preview>> previews =
                controllers.stream().map(PolicyController::preview).toList();
        return CompletableFuture.allOf(previews.toArray(CompletableFuture[]::new))
                .thenApply(done -> {
                    List<WouldGrant> all = new ArrayList<>();
                    for (CompletableFuture<PolicyController.@Nullable Preview> preview : previews) {
                        PolicyController.Preview now = preview.join();
                        if (now == null) {
                            return List.of();
                        }
                        all.add(new WouldGrant(now.policy(), remembered(now), now.incomplete()));
                    }
                    return all;
                });
    }

    private synchronized Map<String, Set<ObjectRef>> remembered(PolicyController.Preview now) {
        Map<String, Set<ObjectRef>> names = seen.computeIfAbsent(now.policy().name(), policy -> new TreeMap<>());
        now.roles()
                .forEach((namespace, granted) -> names.computeIfAbsent(namespace, each -> new TreeSet<>())
                        .addAll(granted));
        Map<String, Set<ObjectRef>> copy = new TreeMap<>();
        names.forEach((namespace, granted) -> copy.put(namespace, new TreeSet<>(granted)));
        return copy;
    }

    /** Stops. Waits some seconds at most. */
    @Override
    public void close() {
        controllers.forEach(PolicyController::close);
    }
}
