package dev.podcache.access;

import dev.podcache.access.Definitions.Definition;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.controlplane.leaderelection.LeaderElectionOptions;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps Roles equal to references: in each namespace that a {@link GrantPolicy} selects, one Role grants exactly the
 * objects that the owners there refer to now. A controller with an identity of its own, which cannot read these objects.
 * Thread-safe.
 *
 * <pre>{@code
 * try (Grants grants = Grants.builder(client).policy(GrantPolicy.read(path)).start()) {
 *     ...
 * }
 * }</pre>
 *
 * <p><b>What is granted.</b> The verbs of the policy, by name. The first reference of an object adds its name, the last
 * one removes it. An owner that is being deleted counts until it is gone; a pod that has ended does not count. Changes are
 * gathered for 100 ms; a Role with more than 1,000 names is written at most twice a second. Of one owner at most 500 names
 * are granted, and of one Role at most 1 MiB; the oldest references win, and an event tells the owner that loses. With
 * {@code onBehalfOf}, a name is granted only while a review says that the owner's ServiceAccount may get it.
 *
 * <p><b>What is never lost.</b> No Role shrinks until all owners of its namespace were listed since this process leads. A
 * kind that is answered 404 or 410 shrinks nothing until its definition is found to be absent. A Role that somebody has
 * edited or deleted is made equal again, with an event. A Role of this name that somebody else has made, without the label
 * of the policy, is left as it is, with an event.
 *
 * <p><b>What is taken.</b> A namespace that is not selected any more has nothing: also if nobody led when it was taken out of
 * the policy, as far as the identity may list the Role in all namespaces. If it may not, a warning says so.
 *
 * <p><b>Several processes</b> may run with one policy. One of them leads, by the Lease {@code podcache-grants-POLICY}, and
 * writes only while the Lease lasts for longer than a request.
 *
 * <p>{@code podcache grants --print-rbac} prints the rights that its identity needs. It never makes bindings: whoever
 * applies these rights binds the Role to the operator.
 */
public final class Grants implements AutoCloseable {

    private static final RequestLimit LIMIT = new RequestLimit(1_000, 1_000);
    private static final Duration KIND_TIMEOUT = Duration.ofSeconds(5);

    private final Fabric8ApiServer server;
    private final List<PolicyController> controllers;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Grants(Fabric8ApiServer server, List<PolicyController> controllers) {
        this.server = server;
        this.controllers = List.copyOf(controllers);
    }

    /**
     * Returns a builder.
     *
     * @param client provides the server URL and the credentials; never closed
     */
    public static Builder builder(KubernetesClient client) {
        Objects.requireNonNull(client, "client");
        return new Builder(() -> Fabric8ApiServer.of(client, LIMIT), client.getConfiguration());
    }

    /**
     * Returns a builder for a program that needs no client.
     *
     * @hidden
     */
    @NotApi
    public static Builder builder(Config config) {
        return new Builder(() -> Fabric8ApiServer.of(config, LIMIT), config);
    }

    /**
     * Returns the name of the Lease of a policy.
     *
     * @hidden
     */
    @NotApi
    public static String leaseName(String policy) {
        return "podcache-grants-" + policy;
    }

    /** Returns whether this process leads for each of its policies. Only the leader of a policy writes its Roles. */
    public boolean isLeading() {
        return controllers.stream().allMatch(PolicyController::isLeading);
    }

    /**
     * Stops: no write begins after this call. Gives the Leases up, so that another process can lead at once. The Roles stay
     * as they are. Waits some seconds at most. Idempotent.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            controllers.forEach(PolicyController::close);
            server.close();
        }
    }

    /** Collects what {@link Grants} needs. Not thread-safe. */
    public static final class Builder {

        private final Supplier<Fabric8ApiServer> servers;
        private final Config config;
        private final List<RolePolicy> roles = new ArrayList<>();
        private boolean clusterWide;
        private @Nullable String leaseNamespace;
        private String identity = "podcache-grants-" + UUID.randomUUID();
        private Duration leaseDuration = Duration.ofSeconds(15);

        private Builder(Supplier<Fabric8ApiServer> servers, Config config) {
            this.servers = servers;
            this.config = config;
        }

        /**
         * Adds the policies of a file. Needed at least once.
         *
         * @throws IllegalArgumentException if a policy with one of their names or Roles was added before
         */
        public Builder policy(GrantPolicy policy) {
            for (RolePolicy role : Objects.requireNonNull(policy, "policy").roles()) {
                for (RolePolicy before : roles) {
                    if (before.role().equals(role.role()) || before.name().equals(role.name())) {
                        throw new IllegalArgumentException(
                                role + " has the name or the Role of " + before + ": give each policy its own");
                    }
                }
                roles.add(role);
            }
            return this;
        }

        /**
         * Follows owners with one watch of each kind for all namespaces, instead of one in each selected namespace. Its
         * identity then needs a ClusterRole. Default: not.
         */
        public Builder clusterWide(boolean on) {
            clusterWide = on;
            return this;
        }

        /**
         * Sets the namespace of the Leases. Default: the namespace of the client, else {@code default}.
         *
         * @throws IllegalArgumentException if it is not a legal name
         */
        public Builder leaseNamespace(String namespace) {
            leaseNamespace = ObjectKey.validated(namespace, "x").namespace();
            return this;
        }

        /**
         * Sets what names this process in Leases and events; different for each process. Default: a random one.
         *
         * @throws IllegalArgumentException if it is empty
         */
        public Builder identity(String name) {
            if (Objects.requireNonNull(name, "identity").isEmpty()) {
                throw new IllegalArgumentException("the identity is empty: give a name that no other process has");
            }
            identity = name;
            return this;
        }

        /** Sets how long others wait for a leader that does not renew its Lease; for tests. At least 6 s. */
        Builder leaseDuration(Duration duration) {
            leaseDuration = duration;
            return this;
        }

        /**
         * Starts the controller. Waits some seconds for an API server that does not answer, and starts anyway: it goes on
         * trying.
         *
         * @throws IllegalStateException if no policy was added
         * @throws IllegalArgumentException if the API server says that a kind of owners or references has no namespace; the
         *     message names it
         */
        public Grants start() {
            if (roles.isEmpty()) {
                throw new IllegalStateException("no policy: call policy(GrantPolicy.read(path)) first");
            }
            Fabric8ApiServer server = servers.get();
            boolean started = false;
            try {
                requireNamespaced(server);
                List<PolicyController> controllers = new ArrayList<>();
                for (RolePolicy role : roles) {
                    controllers.add(new PolicyController(
                            role,
                            server,
                            new PolicyController.ControllerOptions(clusterWide, roles, identity, election(role))));
                }
                controllers.forEach(PolicyController::start);
                started = true;
                return new Grants(server, controllers);
            } finally {
                if (!started) {
                    server.close();
                }
            }
        }

        private LeaderElectionOptions election(RolePolicy role) {
            String namespace = leaseNamespace != null
                    ? leaseNamespace
                    : Objects.requireNonNullElse(config.getNamespace(), "default");
            return new LeaderElectionOptions(
                    ObjectKey.of(namespace, leaseName(role.name())),
                    identity,
                    leaseDuration,
                    leaseDuration.multipliedBy(2).dividedBy(3),
                    leaseDuration.multipliedBy(2).dividedBy(15));
        }

        private void requireNamespaced(Fabric8ApiServer server) {
            Definitions definitions = new Definitions(path -> server.raw(path, KIND_TIMEOUT));
            Set<ObjectKind<?>> kinds = new HashSet<>();
            roles.forEach(role -> {
                role.owners().forEach(owner -> kinds.add(owner.kind()));
                kinds.addAll(role.grantedKinds());
            });
            for (ObjectKind<?> kind : kinds) {
                CompletableFuture<Definition> answer = definitions.find(kind);
                try {
                    server.timekeeper().await(answer, KIND_TIMEOUT);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                if (!answer.isDone() || answer.isCompletedExceptionally()) {
                    return;
                }
                if (answer.join().state() == Definitions.KindState.CLUSTER_SCOPED) {
                    throw new IllegalArgumentException(kind.apiVersion() + " " + kind
                            + " has no namespace: a Role grants only in the namespace of the owner; leave it out of the"
                            + " policy");
                }
            }
        }
    }
}
