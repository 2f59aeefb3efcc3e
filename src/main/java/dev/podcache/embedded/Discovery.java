package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Answers the requests for versions, API groups, resources and health. */
final class Discovery {

    private static final ImmutableList<String> VERBS =
            ImmutableList.of("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch");
    private static final ImmutableList<String> VERBS_OF_A_PART = ImmutableList.of("get", "patch", "update");
    private static final ImmutableList<String> CREATE = ImmutableList.of("create");
    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();

    private final Supplier<ImmutableList<Resource>> served;
    private final String version;

    /**
     * Creates the answers of a server.
     *
     * @param served supplies what is served at the moment
     * @param version the version of the server, such as {@code v1.20.2}
     */
    Discovery(Supplier<ImmutableList<Resource>> served, String version) {
        this.served = served;
        this.version = version;
    }

    /** Returns the answer for {@code path}, or null if it is not a discovery or health path. */
    @Nullable
    HttpAnswer answer(String path) {
        List<String> parts = SLASHES.splitToList(path);
        if (parts.size() == 1) {
            return switch (parts.get(0)) {
                case "healthz", "livez", "readyz" -> HttpAnswer.text("ok");
                case "version" -> HttpAnswer.json(200, version());
                case "api" -> HttpAnswer.json(200, coreVersions());
                case "apis" -> HttpAnswer.json(200, groups());
                default -> null;
            };
        }
        boolean core = parts.size() == 2 && parts.get(0).equals("api");
        boolean named = parts.size() >= 2 && parts.size() <= 3 && parts.get(0).equals("apis");
        if (core) {
            return resources(parts.get(1));
        }
        if (named) {
            return parts.size() == 2 ? group(parts.get(1)) : resources(parts.get(1) + "/" + parts.get(2));
        }
        return null;
    }

    private ObjectNode version() {
        List<String> numbers = Splitter.on('.').splitToList(version.substring(1));
        return object().put("major", numbers.get(0))
                .put("minor", numbers.get(1))
                .put("gitVersion", version + "+podcache.embedded");
    }

    private static ObjectNode coreVersions() {
        ObjectNode versions = object().put("kind", "APIVersions");
        versions.putArray("versions").add("v1");
        versions.putArray("serverAddressByClientCIDRs");
        return versions;
    }

    private ObjectNode groups() {
        ObjectNode list = object().put("kind", "APIGroupList").put("apiVersion", "v1");
        ArrayNode groups = list.putArray("groups");
        served.get().stream()
                .map(Resource::group)
                .filter(group -> !group.isEmpty())
                .distinct()
                .forEach(group -> groups.add(describe(group)));
        return list;
    }

    private @Nullable HttpAnswer group(String group) {
        ObjectNode description = describe(group);
        return description.path("versions").isEmpty()
                ? null
                : HttpAnswer.json(200, description.put("kind", "APIGroup").put("apiVersion", "v1"));
    }

    private ObjectNode describe(String group) {
        ObjectNode description = object().put("name", group);
        ArrayNode versions = description.putArray("versions");
        Set<String> names = served.get().stream()
                .filter(resource -> resource.group().equals(group))
                .map(Resource::version)
                .collect(Collectors.toCollection(() -> new TreeSet<>(Discovery::newestFirst)));
        for (String name : names) {
            versions.addObject().put("groupVersion", group + "/" + name).put("version", name);
        }
        if (!versions.isEmpty()) {
            description.set("preferredVersion", versions.get(0).deepCopy());
        }
        return description;
    }

    /** Orders released versions before beta and alpha versions, and higher numbers before lower ones. */
    private static int newestFirst(String a, String b) {
        int stability = Integer.compare(instability(a), instability(b));
        int length = stability != 0 ? stability : Integer.compare(b.length(), a.length());
        return length != 0 ? length : b.compareTo(a);
    }

    private static int instability(String version) {
        return version.contains("alpha") ? 2 : version.contains("beta") ? 1 : 0;
    }

    private @Nullable HttpAnswer resources(String apiVersion) {
        ObjectNode list = object().put("kind", "APIResourceList").put("apiVersion", "v1");
        list.put("groupVersion", apiVersion);
        ArrayNode resources = list.putArray("resources");
        for (Resource resource : served.get()) {
            if (!resource.apiVersion().equals(apiVersion)) {
                continue;
            }
            describe(resources.addObject(), resource, resource.plural(), resource.isReview() ? CREATE : VERBS);
            if (resource.hasStatus()) {
                describe(resources.addObject(), resource, resource.plural() + "/status", VERBS_OF_A_PART);
            }
            if (resource.equals(Resource.PODS)) {
                describe(resources.addObject(), resource, resource.plural() + "/ephemeralcontainers", VERBS_OF_A_PART);
            }
            if (resource.equals(Resource.SERVICE_ACCOUNTS)) {
                describe(resources.addObject(), resource, resource.plural() + "/token", CREATE)
                        .put("kind", "TokenRequest")
                        .put("group", "authentication.k8s.io")
                        .put("version", "v1");
            }
        }
        return resources.isEmpty() ? null : HttpAnswer.json(200, list);
    }

    private static ObjectNode describe(
            ObjectNode description, Resource resource, String name, ImmutableList<String> verbs) {
        boolean whole = name.equals(resource.plural());
        description
                .put("name", name)
                .put(
                        "singularName",
                        whole && resource.isCustom() ? resource.kind().toLowerCase(Locale.ROOT) : "")
                .put("namespaced", resource.namespaced())
                .put("kind", resource.kind());
        ArrayNode allowed = description.putArray("verbs");
        verbs.stream()
                .filter(verb -> resource.canDeleteCollection() || !verb.equals("deletecollection"))
                .forEach(allowed::add);
        if (whole && !resource.shortName().isEmpty()) {
            description.putArray("shortNames").add(resource.shortName());
        }
        return description;
    }

    private static ObjectNode object() {
        return Json.MAPPER.createObjectNode();
    }
}
