package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers the requests for versions, API groups, resources and health. */
final class Discovery {

    private static final String GROUP = "coordination.k8s.io";
    private static final ImmutableList<String> VERBS =
            ImmutableList.of("create", "delete", "get", "list", "patch", "update", "watch");

    private Discovery() {}

    /**
     * Returns the answer for {@code path}, or null if it is not a discovery or health path.
     *
     * @param version the version of the server, such as {@code v1.20.2}
     */
    static @Nullable HttpAnswer answer(String path, String version) {
        String normal = path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return switch (normal) {
            case "/healthz", "/livez", "/readyz" -> HttpAnswer.text("ok");
            case "/version" -> HttpAnswer.json(200, version(version));
            case "/api" -> HttpAnswer.json(200, coreVersions());
            case "/apis" -> HttpAnswer.json(200, groups());
            case "/apis/" + GROUP ->
                HttpAnswer.json(200, group().put("kind", "APIGroup").put("apiVersion", "v1"));
            case "/api/v1" -> HttpAnswer.json(200, resources(""));
            case "/apis/" + GROUP + "/v1" -> HttpAnswer.json(200, resources(GROUP));
            default -> null;
        };
    }

    private static ObjectNode version(String version) {
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

    private static ObjectNode groups() {
        ObjectNode list = object().put("kind", "APIGroupList").put("apiVersion", "v1");
        list.putArray("groups").add(group());
        return list;
    }

    private static ObjectNode group() {
        ObjectNode group = object().put("name", GROUP);
        ObjectNode version = object().put("groupVersion", GROUP + "/v1").put("version", "v1");
        group.putArray("versions").add(version);
        group.set("preferredVersion", version);
        return group;
    }

    private static ObjectNode resources(String group) {
        ObjectNode list = object().put("kind", "APIResourceList").put("apiVersion", "v1");
        list.put("groupVersion", group.isEmpty() ? "v1" : group + "/v1");
        ArrayNode resources = list.putArray("resources");
        for (Resource resource : Resource.values()) {
            if (resource.group().equals(group)) {
                describe(resources.addObject(), resource, resource.plural());
                if (resource.hasStatus()) {
                    describe(resources.addObject(), resource, resource.plural() + "/status");
                }
            }
        }
        return list;
    }

    private static void describe(ObjectNode description, Resource resource, String name) {
        description
                .put("name", name)
                .put("singularName", "")
                .put("namespaced", resource.namespaced())
                .put("kind", resource.kind());
        boolean whole = name.equals(resource.plural());
        ArrayNode verbs = description.putArray("verbs");
        VERBS.stream()
                .filter(verb -> whole || verb.equals("get") || verb.equals("patch") || verb.equals("update"))
                .forEach(verbs::add);
        if (whole && !resource.shortName().isEmpty()) {
            description.putArray("shortNames").add(resource.shortName());
        }
    }

    private static ObjectNode object() {
        return Json.MAPPER.createObjectNode();
    }
}
