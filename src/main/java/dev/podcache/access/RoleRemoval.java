package dev.podcache.access;

import com.google.common.base.Strings;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.FailureReason;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Empties the Roles of a policy, so that they grant nothing. The Roles themselves and their bindings stay. Blocks while it
 * asks the server. Confined to the caller's thread.
 *
 * @hidden
 */
@NotApi
public final class RoleRemoval {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final String NO_RULES = "{\"metadata\":{\"uid\":\"%s\"},\"rules\":[]}";

    private final Fabric8ApiServer server;
    private final ObjectApi<Role> roles;

    /**
     * What was done for a policy.
     *
     * @param roles those that were emptied
     * @param unlisted why not all namespaces could be looked at, but only those that the policy selects; null if all were
     * @hidden
     */
    public record Emptied(List<ObjectKey> roles, @Nullable ApiServerException unlisted) {

        public Emptied {
            roles = List.copyOf(roles);
        }
    }

    /** @param server not closed */
    public RoleRemoval(Fabric8ApiServer server) {
        this.server = server;
        this.roles = server.api(RoleContent.KIND, TIMEOUT);
    }

    /**
     * Returns who keeps the Roles of a policy now, by its Lease; empty if nobody does. If the Lease has a holder and is over
     * by our clock, which may not be his, waits for the duration of the Lease at most to see whether he renews it.
     *
     * @throws ApiServerException if the Lease cannot be read
     */
    public Optional<String> leader(RolePolicy policy, String leaseNamespace) {
        ObjectKey key = ObjectKey.of(leaseNamespace, Grants.leaseName(policy.name()));
        LeaseSpec first = lease(key);
        String holder = Objects.requireNonNullElse(first.getHolderIdentity(), "");
        if (holder.isEmpty()) {
            return Optional.empty();
        }
        Timekeeper timekeeper = server.timekeeper();
        ZonedDateTime renewed = first.getRenewTime();
        Duration lasts = Duration.ofSeconds(Objects.requireNonNullElse(first.getLeaseDurationSeconds(), 0));
        if (renewed != null && renewed.toInstant().plus(lasts).isAfter(timekeeper.wallTime())) {
            return Optional.of(holder);
        }
        long since = timekeeper.nanoTime();
        while (timekeeper.nanoTime() - since < lasts.toNanos()) {
            try {
                timekeeper.await(new CompletableFuture<>(), LOOK);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.of(holder);
            }
            LeaseSpec now = lease(key);
            if (!Objects.equals(now.getRenewTime(), renewed)) {
                return Optional.ofNullable(Strings.emptyToNull(now.getHolderIdentity()));
            }
        }
        return Optional.empty();
    }

    private LeaseSpec lease(ObjectKey key) {
        Lease lease = found(server.api(ObjectKind.LEASE, TIMEOUT).get(key));
        return lease == null || lease.getSpec() == null ? new LeaseSpec() : lease.getSpec();
    }

    /**
     * Empties the Roles of a policy in all namespaces; if its identity may not list them, in those that the policy selects.
     *
     * @throws ApiServerException if the server refuses a request; those before it have been made
     */
    public Emptied empty(RolePolicy policy) {
        ApiServerException unlisted = null;
        List<Role> found;
        try {
            found = joined(server.named(RoleContent.KIND, policy.role()).list(TIMEOUT)).items().stream()
                    .map(Fetched::object)
                    .toList();
        } catch (ApiServerException e) {
            if (e.reason() != FailureReason.FORBIDDEN) {
                throw e;
            }
            unlisted = e;
            found = inSelected(policy);
        }
        List<ObjectKey> emptied = new ArrayList<>();
        for (Role role : found) {
            ObjectKey key = ObjectKey.of(
                    role.getMetadata().getNamespace(), role.getMetadata().getName());
            boolean hasRules = role.getRules() != null && !role.getRules().isEmpty();
            if (hasRules
                    && policy.name().equals(RolePolicy.keeperOf(role))
                    && found(roles.patch(
                                    key, NO_RULES.formatted(role.getMetadata().getUid())))
                            != null) {
                emptied.add(key);
            }
        }
        return new Emptied(emptied, unlisted);
    }

    private List<Role> inSelected(RolePolicy policy) {
        List<Role> found = new ArrayList<>();
        for (String namespace : selected(server, policy)) {
            Role role = found(roles.get(ObjectKey.of(namespace, policy.role())));
            if (role != null) {
                found.add(role);
            }
        }
        return found;
    }

    /**
     * Returns the namespaces that a policy selects now.
     *
     * @throws ApiServerException if they have to be listed and cannot be
     */
    public static List<String> selected(Fabric8ApiServer server, RolePolicy policy) {
        if (policy.namespaces().selector() == null) {
            return policy.namespaces().names().stream().sorted().toList();
        }
        return joined(server.inNamespace(ObjectKind.of(Namespace.class))
                        .apply("", name -> true)
                        .list(TIMEOUT))
                .items()
                .stream()
                .map(item -> item.object().getMetadata())
                .filter(namespace -> policy.namespaces()
                        .selects(namespace.getName(), Objects.requireNonNullElse(namespace.getLabels(), Map.of())))
                .map(namespace -> namespace.getName())
                .sorted()
                .toList();
    }

    private static <T> @Nullable T found(CompletableFuture<T> answer) {
        try {
            return joined(answer);
        } catch (ApiServerException e) {
            if (e.reason() == FailureReason.NOT_FOUND) {
                return null;
            }
            throw e;
        }
    }

    private static <T> T joined(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                throw failure;
            }
            throw e;
        }
    }
}
