package dev.podcache.embedded;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A question to an authorizer: may somebody do this? It is about a resource or, if {@code resource} is empty, about a path.
 *
 * @param verb as in rules, such as {@code get} or {@code deletecollection}
 * @param group the API group; empty for the core group
 * @param resource the plural name; empty if the question is about {@code path}
 * @param subresource such as {@code status}, or empty
 * @param namespace empty for all namespaces or a cluster-scoped resource
 * @param name empty if the request names no object
 */
record AuthorizerQuestion(
        Caller caller,
        String verb,
        String group,
        String resource,
        String subresource,
        String namespace,
        String name,
        String path) {

    // After apiserver/pkg/endpoints/request/requestinfo.go of kubernetes/kubernetes.

    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();
    private static final ImmutableSet<String> PARTS_OF_NAMESPACES = ImmutableSet.of("status", "finalize");

    AuthorizerQuestion {
        Objects.requireNonNull(caller, "caller");
    }

    /** The method, decoded path and parameters of an HTTP request. */
    record HttpTarget(String method, String path, boolean watch, String fieldSelector) {}

    /** Returns the question that a server asks before it executes a request. */
    static AuthorizerQuestion of(Caller caller, HttpTarget request) {
        List<String> parts = SLASHES.splitToList(request.path());
        int start = !parts.isEmpty() && parts.get(0).equals("api")
                ? 2
                : !parts.isEmpty() && parts.get(0).equals("apis") ? 3 : Integer.MAX_VALUE;
        if (parts.size() <= start) {
            String verb = request.method().toLowerCase(Locale.ROOT);
            return new AuthorizerQuestion(caller, verb, "", "", "", "", "", request.path());
        }
        String group = start == 3 ? parts.get(1) : "";
        List<String> rest = parts.subList(start, parts.size());
        String namespace = "";
        if (rest.get(0).equals("namespaces") && rest.size() > 1) {
            namespace = rest.get(1);
            if (rest.size() > 2 && !PARTS_OF_NAMESPACES.contains(rest.get(2))) {
                rest = rest.subList(2, rest.size());
            }
        }
        String name = rest.size() > 1 ? rest.get(1) : "";
        String verb = verbOf(request, name.isEmpty());
        if (name.isEmpty() && (verb.equals("list") || verb.equals("watch"))) {
            name = selectedName(request.fieldSelector());
        }
        return new AuthorizerQuestion(
                caller, verb, group, rest.get(0), rest.size() > 2 ? rest.get(2) : "", namespace, name, request.path());
    }

    private static String verbOf(HttpTarget request, boolean collection) {
        return switch (request.method()) {
            case "GET", "HEAD" -> request.watch() ? "watch" : collection ? "list" : "get";
            case "POST" -> "create";
            case "PUT" -> "update";
            case "PATCH" -> "patch";
            case "DELETE" -> collection ? "deletecollection" : "delete";
            default -> "";
        };
    }

    private static String selectedName(String fieldSelector) {
        try {
            for (SelectorTerm term : SelectorTerm.parse("fieldSelector", fieldSelector)) {
                if (term.key().equals("metadata.name") && term.operator() == SelectorTerm.Operator.EQUAL) {
                    return ObjectNames.isPathSegment(term.value()) ? term.value() : "";
                }
            }
            return "";
        } catch (StatusException malformed) {
            // refused when the request is executed
            return "";
        }
    }

    boolean isAboutResource() {
        return !resource.isEmpty();
    }

    /** Returns the question whether the caller may do another thing with the same object. */
    AuthorizerQuestion withVerb(String other) {
        return new AuthorizerQuestion(caller, other, group, resource, subresource, namespace, name, path);
    }

    /**
     * Returns the 403 of a refusal.
     *
     * @param reason what the authorizer adds; may be empty
     */
    StatusException refused(String reason) {
        String what = isAboutResource()
                ? " resource \"" + resource + (subresource.isEmpty() ? "" : "/" + subresource) + "\" in API group \""
                        + group + "\" "
                        + (namespace.isEmpty() ? "at the cluster scope" : "in the namespace \"" + namespace + "\"")
                : " path \"" + path + "\"";
        String why = "User \"" + caller.name() + "\" cannot " + verb + what + (reason.isEmpty() ? "" : ": " + reason);
        return StatusException.forbidden(group, resource, name, why);
    }
}
