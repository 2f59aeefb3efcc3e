package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.pod.TaintToleration;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Decides how long a pod may stay on a node with NoExecute taints. Pure functions. */
final class Tolerations {

    /** The pod may stay for ever. */
    static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    private Tolerations() {}

    /** Returns the taints with the effect NoExecute. */
    static List<Taint> noExecute(List<Taint> taints) {
        return taints.stream()
                .filter(taint -> NodeTaintRules.NO_EXECUTE.equals(taint.getEffect()))
                .toList();
    }

    /**
     * Returns how long a pod may stay.
     *
     * @param taints the NoExecute taints of the node; at least one
     * @return empty if a taint is not tolerated; {@link #FOREVER}, or the shortest time that the tolerations which match
     *     allow
     */
    static Optional<Duration> stay(List<Taint> taints, List<Toleration> tolerations) {
        List<Toleration> used = new ArrayList<>();
        for (Taint taint : taints) {
            // the first that matches, as upstream
            Toleration match = tolerations.stream()
                    .filter(toleration -> TaintToleration.tolerates(toleration, taint))
                    .findFirst()
                    .orElse(null);
            if (match == null) {
                return Optional.empty();
            }
            used.add(match);
        }
        return Optional.of(minimum(used));
    }

    /** Returns the shortest time that one of the tolerations allows; zero if there are none. */
    static Duration minimum(List<Toleration> tolerations) {
        if (tolerations.isEmpty()) {
            return Duration.ZERO;
        }
        return tolerations.stream()
                .map(Toleration::getTolerationSeconds)
                .filter(Objects::nonNull)
                .map(seconds -> Duration.ofSeconds(Math.max(0, seconds)))
                .min(Duration::compareTo)
                .orElse(FOREVER);
    }
}
