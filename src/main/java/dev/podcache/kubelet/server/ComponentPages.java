package dev.podcache.kubelet.server;

import com.google.common.collect.ImmutableList;
import dev.podcache.time.Timekeeper;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Answers the requests that every component of Kubernetes answers. Thread-safe. */
final class ComponentPages {

    /** Shown by {@code /statusz}. */
    private static final List<String> PATHS =
            List.of("/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz");

    private final ComponentInfo component;
    private final Map<String, HealthPage> health;
    private final ZPages zPages;

    /** @param further checks of {@code /healthz} */
    ComponentPages(ComponentInfo component, List<HealthCheck> further, Timekeeper timekeeper) {
        this.component = component;
        this.zPages = new ZPages(component, PATHS, timekeeper);
        List<HealthCheck> live = withPing(component.live());
        this.health = Map.of(
                "healthz",
                new HealthPage(
                        "healthz",
                        ImmutableList.<HealthCheck>builder()
                                .addAll(live)
                                .addAll(further)
                                .build()),
                "livez",
                new HealthPage("livez", live),
                "readyz",
                new HealthPage("readyz", withPing(component.ready())));
    }

    private static List<HealthCheck> withPing(List<HealthCheck> checks) {
        return ImmutableList.<HealthCheck>builder()
                .add(HealthCheck.PING)
                .addAll(checks)
                .build();
    }

    /**
     * Answers a request of an authorized client; empty if the path is none of these. May block.
     *
     * @param showsReason whether the client may see why a check fails
     * @throws RefusedException if there is no such check
     */
    Optional<KubeletResponse> answer(KubeletRequest request, boolean showsReason) {
        return switch (path(request)) {
            case "/configz" ->
                Optional.of(KubeletResponse.json(
                        AnswerJson.bytes(component.configuration().get())));
            case "/statusz" -> Optional.of(zPages.statusz());
            case "/flagz" -> Optional.of(zPages.flagz());
            case "/debug/objects" ->
                component.objects().map(shown -> KubeletResponse.json(AnswerJson.bytes(shown.get())));
            case "/metrics" -> Optional.of(metrics());
            default -> health(request, showsReason);
        };
    }

    /**
     * Answers a request for health, which names no object; empty if the path is none of these.
     *
     * @param showsReason whether the client may see why a check fails
     */
    Optional<KubeletResponse> health(KubeletRequest request, boolean showsReason) {
        HealthPage page = health.get(Authorization.firstSegment(path(request)));
        if (page == null) {
            return Optional.empty();
        }
        List<String> below = request.segments();
        boolean whole = below.isEmpty() || below.equals(List.of(""));
        return Optional.of(whole ? page.all(request) : page.one(String.join("/", below), showsReason));
    }

    private KubeletResponse metrics() {
        return component
                .metrics()
                .map(metrics -> KubeletResponse.metrics(metrics.get()))
                .orElseThrow(() -> new RefusedException(
                        404, "this component has no metrics: the program that runs it has not set any"));
    }

    private static String path(KubeletRequest request) {
        String path = request.path();
        return path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }
}
