package dev.podcache.cli.access;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import dev.podcache.object.ObjectKey;
import java.util.List;

/**
 * Who a Role is bound to: a ServiceAccount or a user. Immutable.
 *
 * @param namespace empty for a user
 */
public record RoleSubject(String kind, String namespace, String name) {

    private static final String ACCOUNT = "ServiceAccount";
    private static final String PREFIX = "system:serviceaccount:";

    /** Returns the subject that is a ServiceAccount. */
    public static RoleSubject account(ObjectKey key) {
        return new RoleSubject(ACCOUNT, key.namespace(), key.name());
    }

    /** Returns the subject with this user name: that of a ServiceAccount, or of anybody else. */
    public static RoleSubject user(String name) {
        List<String> parts = Splitter.on(':').splitToList(name);
        return name.startsWith(PREFIX) && parts.size() == 4
                ? new RoleSubject(ACCOUNT, parts.get(2), parts.get(3))
                : new RoleSubject("User", "", name);
    }

    /** Returns the subject as in a manifest. */
    ImmutableMap<String, Object> fields() {
        return namespace.isEmpty()
                ? ImmutableMap.of("kind", kind, "apiGroup", RoleManifests.GROUP, "name", name)
                : ImmutableMap.of("kind", kind, "name", name, "namespace", namespace);
    }

    /** Returns kind and name, such as {@code ServiceAccount shop/reader}. */
    @Override
    public String toString() {
        return kind + " " + (namespace.isEmpty() ? name : namespace + "/" + name);
    }
}
