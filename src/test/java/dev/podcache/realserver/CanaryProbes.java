package dev.podcache.realserver;

import dev.podcache.testing.NewThread;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Secrets in the first namespace of a cluster that no owner ever names, and an operator that tries to read them. Thread-safe.
 */
final class CanaryProbes {

    private static final int WRITERS = 4;

    private final GrantsCluster cluster;
    private final int canaries;
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger roles = new AtomicInteger();

    /** Creates the Secrets. */
    CanaryProbes(GrantsCluster cluster, int canaries) {
        this.cluster = cluster;
        this.canaries = canaries;
        CompletableFuture<?>[] writers = IntStream.range(0, WRITERS)
                .mapToObj(writer -> CompletableFuture.runAsync(
                        () -> IntStream.range(0, canaries)
                                .filter(canary -> canary % WRITERS == writer)
                                .forEach(canary -> cluster.put(cluster.namespace(), "canary-" + canary)),
                        NewThread.EACH))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(writers).join();
    }

    /** What must not have happened: that a canary was read, or could have been. */
    Queue<String> violations() {
        return violations;
    }

    /** How many requests were refused, as they must be. */
    int refused() {
        return refused.get();
    }

    /** How many states of Roles were looked at by {@link #watchRoles}. */
    int roles() {
        return roles.get();
    }

    /** Looks at each state that the Role has in a namespace, until the watch is closed: not a sample. */
    Watch watchRoles(String namespace) {
        return cluster.admin
                .rbac()
                .roles()
                .inNamespace(namespace)
                .withName(GrantsCluster.ROLE)
                .watch(new Watcher<>() {
                    @Override
                    public void eventReceived(Action action, Role role) {
                        roles.incrementAndGet();
                        // a kube-apiserver writes null for no rules
                        for (PolicyRule rule : role.getRules() == null ? List.<PolicyRule>of() : role.getRules()) {
                            if (rule.getResourceNames().isEmpty()) {
                                violations.add("a rule of " + namespace + " allows every name");
                            }
                            rule.getResourceNames().stream()
                                    .filter(name -> name.startsWith("canary-"))
                                    .forEach(name -> violations.add("the Role of " + namespace + " names " + name));
                        }
                    }

                    @Override
                    public void onClose(WatcherException cause) {
                        violations.add("the watch of the Role of " + namespace + " has ended, and missed states");
                    }

                    @Override
                    public void onClose() {}
                });
    }

    /**
     * One read of a canary, by one of the ways that there are: get, list and watch by name, list of all, deletion of all.
     *
     * @param serverAway whether the server may not answer
     */
    void probe(Random choices, BooleanSupplier serverAway) {
        String canary = "canary-" + choices.nextInt(canaries);
        String namespace = cluster.namespace();
        int way = choices.nextInt(5);
        boolean away = serverAway.getAsBoolean();
        try {
            switch (way) {
                case 0 ->
                    cluster.operator
                            .secrets()
                            .inNamespace(namespace)
                            .withName(canary)
                            .get();
                case 1 ->
                    cluster.operator
                            .secrets()
                            .inNamespace(namespace)
                            .withField("metadata.name", canary)
                            .list();
                case 2 ->
                    cluster.operator
                            .secrets()
                            .inNamespace(namespace)
                            .withField("metadata.name", canary)
                            .watch(new Watcher<>() {
                                @Override
                                public void eventReceived(Action action, Secret resource) {
                                    violations.add("a watch brought " + canary);
                                }

                                @Override
                                public void onClose(WatcherException cause) {}
                            })
                            .close();
                case 3 -> cluster.operator.secrets().inNamespace(namespace).list();
                default -> cluster.operator.secrets().inNamespace(namespace).delete();
            }
            // a watch that cannot be opened because the server is away says nothing
            if (way != 2 || !(away || serverAway.getAsBoolean())) {
                violations.add("way " + way + " to " + canary + " was allowed");
            }
        } catch (KubernetesClientException e) {
            if (e.getCode() == 403) {
                refused.incrementAndGet();
            } else if (!away && !serverAway.getAsBoolean()) {
                violations.add("way " + way + " to " + canary + " was answered " + e.getCode());
            }
        }
    }
}
