package dev.podcache.kubelet.server;

import com.google.common.base.Splitter;
import dev.podcache.object.Quoted;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answer of {@code /healthz}, {@code /livez} or {@code /readyz}, and of one check below it, in the format of {@code
 * k8s.io/apiserver/pkg/server/healthz}: {@code ok}, or with {@code ?verbose} and after a failure a line for each check.
 * Immutable.
 */
final class HealthPage {

    private static final Logger log = LoggerFactory.getLogger(HealthPage.class);

    private final String name;
    private final List<HealthCheck> checks;

    /** @param name {@code healthz}, {@code livez} or {@code readyz} */
    HealthPage(String name, List<HealthCheck> checks) {
        this.name = name;
        this.checks = List.copyOf(checks);
    }

    /** Returns the answer of all checks but those that {@code ?exclude=} names. Reasons are never shown. */
    KubeletResponse all(KubeletRequest request) {
        Set<String> excluded = excluded(request);
        StringBuilder lines = new StringBuilder();
        boolean failed = false;
        for (HealthCheck check : checks) {
            if (excluded.remove(check.name())) {
                lines.append("[+]").append(check.name()).append(" excluded: ok\n");
            } else if (problem(check).isPresent()) {
                failed = true;
                lines.append("[-]").append(check.name()).append(" failed: reason withheld\n");
            } else {
                lines.append("[+]").append(check.name()).append(" ok\n");
            }
        }
        if (!excluded.isEmpty()) {
            lines.append("warn: some health checks cannot be excluded: no matches for ")
                    .append(excluded.stream().map(Quoted::value).collect(Collectors.joining(", ")))
                    .append('\n');
        }
        if (failed) {
            return KubeletResponse.text(500, lines + name + " check failed\n");
        }
        return KubeletResponse.text(
                200, request.query().containsKey("verbose") ? lines + name + " check passed\n" : "ok");
    }

    /**
     * Returns the answer of one check.
     *
     * @param showsReason whether the client may see why a check fails
     * @throws RefusedException if there is no check of this name
     */
    KubeletResponse one(String check, boolean showsReason) {
        HealthCheck known = checks.stream()
                .filter(each -> each.name().equals(check))
                .findFirst()
                .orElseThrow(() -> new RefusedException(
                        404,
                        "no such check; /" + name + " has "
                                + checks.stream().map(HealthCheck::name).collect(Collectors.joining(", "))));
        return problem(known)
                .map(problem -> KubeletResponse.text(
                        500,
                        "internal server error: " + (showsReason ? Quoted.text(problem) : "reason withheld") + "\n"))
                .orElseGet(() -> KubeletResponse.text(200, "ok"));
    }

    private static Set<String> excluded(KubeletRequest request) {
        Set<String> names = new LinkedHashSet<>();
        for (String value : request.query().getOrDefault("exclude", List.of())) {
            Splitter.on(',').trimResults().omitEmptyStrings().split(value).forEach(names::add);
        }
        return names;
    }

    private Optional<String> problem(HealthCheck check) {
        try {
            Optional<String> problem = check.problem().get();
            problem.ifPresent(why -> log.debug("check {} of /{} failed: {}", check.name(), name, why));
            return problem;
        } catch (RuntimeException | Error e) {
            // includes Error: a check that lacks a class has not passed
            log.debug("check {} of /{} failed", check.name(), name, e);
            return Optional.of(e.getClass().getName());
        }
    }
}
