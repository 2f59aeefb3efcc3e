package dev.podcache.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.object.NotApi;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Says which Roles follow which references: the documents of kind {@code GrantPolicy} of one file. Immutable.
 *
 * <pre>{@code
 * apiVersion: podcache.dev/v1alpha1
 * kind: GrantPolicy
 * metadata: {name: orders}
 * spec:
 *   role: podcache-orders                         # in every selected namespace that has an owner
 *   namespaces: {matchLabels: {orders: "true"}}   # or a list of names
 *   verbs: [get, list, watch]                     # optional: fewer
 *   owners:
 *   - apiVersion: example.dev/v1
 *     kind: Website
 *     onBehalfOf: {serviceAccount: .spec.serviceAccountName}   # optional
 *     references:
 *     - {kind: Secret, path: .spec.tls.secretName}
 *     - {kind: Secret, path: ".spec.credentials[*].secretRef.name"}
 *     - {kind: ConfigMap, path: .spec.settings}
 *   - {apiVersion: v1, kind: Pod}                 # the paths of pods are built in
 * }</pre>
 *
 * <p><b>Whoever may create an owner chooses what the holder of the Role may read</b>, in the namespace of the owner. With
 * {@code onBehalfOf}, a name is granted only while the ServiceAccount that the owner names may itself {@code get} it.
 *
 * <p>The label {@code podcache.dev/policy} of a Role has the name of its policy. A controller looks for the Roles of its policy
 * in all namespaces of a cluster, and empties those in namespaces that its file does not select. So each policy of a cluster
 * must have a name of its own.
 *
 * <p>A reference of a kind other than Secret and ConfigMap has an {@code apiVersion} too.
 */
public final class GrantPolicy {

    private final ImmutableList<RolePolicy> roles;

    GrantPolicy(List<RolePolicy> roles) {
        this.roles = ImmutableList.copyOf(roles);
    }

    /**
     * Reads a file with one or several documents in YAML or JSON. Blocks while it reads.
     *
     * @throws IllegalArgumentException if the file cannot be read or a document is not a legal policy; the message names
     *     file, line and field, and says how to correct it
     */
    public static GrantPolicy read(Path file) {
        return new GrantPolicy(PolicyReader.read(Objects.requireNonNull(file, "file")));
    }

    /**
     * Returns the policies of the file, in their order.
     *
     * @hidden
     */
    @NotApi
    public List<RolePolicy> roles() {
        return roles;
    }

    /** Returns the names of the policies and of their Roles. */
    @Override
    public String toString() {
        return roles.stream()
                .map(role -> "GrantPolicy " + role.name() + " of Role " + role.role())
                .collect(Collectors.joining(", "));
    }
}
