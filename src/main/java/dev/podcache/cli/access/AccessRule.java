package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import java.util.Collection;
import java.util.List;

/**
 * A rule of a Role. Immutable.
 *
 * @param group empty for the core group
 * @param names empty for all objects, and for {@code create}, which no name restricts
 */
record AccessRule(
        String group, ImmutableList<String> resources, ImmutableList<String> names, ImmutableList<String> verbs) {

    /** Returns a rule for all objects of a resource. */
    static AccessRule of(String group, String resource, String... verbs) {
        return new AccessRule(group, ImmutableList.of(resource), ImmutableList.of(), ImmutableList.copyOf(verbs));
    }

    /** Returns a rule for named objects of a resource. */
    static AccessRule named(String resource, Collection<String> names, List<String> verbs) {
        return new AccessRule("", ImmutableList.of(resource), ImmutableList.copyOf(names), ImmutableList.copyOf(verbs));
    }

    /** Returns the rule as in a manifest. */
    ImmutableMap<String, Object> fields() {
        ImmutableMap.Builder<String, Object> fields = ImmutableMap.builder();
        fields.put("apiGroups", ImmutableList.of(group)).put("resources", resources);
        if (!names.isEmpty()) {
            fields.put("resourceNames", names);
        }
        return fields.put("verbs", verbs).buildOrThrow();
    }
}
