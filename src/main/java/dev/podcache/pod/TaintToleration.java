package dev.podcache.pod;

import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import org.jspecify.annotations.Nullable;

/** Matches tolerations with taints. Pure functions. */
public final class TaintToleration {

    private TaintToleration() {}

    /** Returns whether a toleration matches a taint. An empty effect matches all effects, an empty key all keys. */
    public static boolean tolerates(Toleration toleration, Taint taint) {
        String effect = text(toleration.getEffect());
        String key = text(toleration.getKey());
        if (!(effect.isEmpty() || effect.equals(text(taint.getEffect())))
                || !(key.isEmpty() || key.equals(text(taint.getKey())))) {
            return false;
        }
        return switch (text(toleration.getOperator())) {
            case "", "Equal" -> text(toleration.getValue()).equals(text(taint.getValue()));
            case "Exists" -> true;
            default -> false;
        };
    }

    private static String text(@Nullable String value) {
        return value == null ? "" : value;
    }
}
