package dev.podcache.object;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A user as the API server knows him, on whose behalf something is read: name, groups, UID and extra values. The API
 * server decides by all of them, so two subjects are equal only if all are. Immutable.
 */
public final class Subject {

    private static final String SERVICE_ACCOUNT = "system:serviceaccount:";

    private final String name;
    private final ImmutableList<String> groups;
    private final String uid;
    private final ImmutableMap<String, List<String>> extra;
    private final int hash;

    private Subject(String name, ImmutableList<String> groups, String uid, ImmutableMap<String, List<String>> extra) {
        this.name = name;
        this.groups = groups;
        this.uid = uid;
        this.extra = extra;
        this.hash = Objects.hash(name, groups, uid, extra);
    }

    /**
     * Returns the subject that a ServiceAccount is, with the groups that the API server gives each ServiceAccount: {@code
     * system:serviceaccounts}, {@code system:serviceaccounts:NAMESPACE} and {@code system:authenticated}. The
     * ServiceAccount need not exist: RBAC goes by its name.
     *
     * @throws NullPointerException if an argument is null
     * @throws IllegalArgumentException if an argument is not a legal Kubernetes name; the message quotes it
     */
    public static Subject serviceAccount(String namespace, String name) {
        Names.requireLabel("namespace of a ServiceAccount", namespace);
        Names.requireSubdomain("name of a ServiceAccount", name);
        return new Subject(
                SERVICE_ACCOUNT + namespace + ":" + name,
                ImmutableList.of(
                        "system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"),
                "",
                ImmutableMap.of());
    }

    /**
     * Returns a user as the API server has authenticated him, for example as an admission policy has recorded him. No
     * group is added: without his groups, a user has less access than he has.
     *
     * @param name such as {@code jane}
     * @param groups all groups of the user, {@code system:authenticated} included; copied
     * @param uid "" if the user has none
     * @param extra further facts about the user, which may be secret; copied
     * @throws NullPointerException if an argument, a group, a key or a value is null
     * @throws IllegalArgumentException if the name, a group or a key of {@code extra} is empty
     */
    public static Subject user(
            String name, Collection<String> groups, String uid, Map<String, ? extends Collection<String>> extra) {
        requireText("the name of a user", name);
        ImmutableList<String> copiedGroups = ImmutableList.copyOf(Objects.requireNonNull(groups, "groups"));
        copiedGroups.forEach(group -> requireText("a group of user " + Quoted.value(name), group));
        ImmutableMap.Builder<String, List<String>> copiedExtra = ImmutableMap.builder();
        Objects.requireNonNull(extra, "extra").forEach((key, values) -> {
            requireText("a key of the extra values of user " + Quoted.value(name), key);
            copiedExtra.put(key, ImmutableList.copyOf(values));
        });
        return new Subject(name, copiedGroups, Objects.requireNonNull(uid, "uid"), copiedExtra.buildOrThrow());
    }

    private static void requireText(String what, String value) {
        if (Objects.requireNonNull(value, what).isEmpty()) {
            throw new IllegalArgumentException(
                    what + " is empty: give it as the API server knows it, for example from a TokenReview");
        }
    }

    /** Returns the user name, such as {@code jane} or {@code system:serviceaccount:shop:web}. */
    public String name() {
        return name;
    }

    /** Returns the groups; unmodifiable. */
    public List<String> groups() {
        return groups;
    }

    /** Returns the UID, or "" if there is none. */
    public String uid() {
        return uid;
    }

    /** Returns the extra values by key; unmodifiable. They may be secret. */
    public Map<String, List<String>> extra() {
        return extra;
    }

    /** Returns namespace and name of the ServiceAccount that the name names; empty if it names none. */
    public Optional<ObjectKey> serviceAccount() {
        if (!name.startsWith(SERVICE_ACCOUNT)) {
            return Optional.empty();
        }
        String account = name.substring(SERVICE_ACCOUNT.length());
        int colon = account.indexOf(':');
        ObjectKey key = ObjectKey.of(account.substring(0, Math.max(0, colon)), account.substring(colon + 1));
        return key.isLegal() ? Optional.of(key) : Optional.empty();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof Subject that
                        && hash == that.hash
                        && name.equals(that.name)
                        && groups.equals(that.groups)
                        && uid.equals(that.uid)
                        && extra.equals(that.extra));
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Returns the name, with what is not printable left out. Neither groups nor UID nor extra values. */
    @Override
    public String toString() {
        return Quoted.text(name);
    }
}
