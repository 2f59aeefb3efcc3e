package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The taints that a node registers with. */
public final class NodeTaints {

    // After ParseTaints and the validation of taints in kubernetes/kubernetes, pkg/util/taints.

    private static final ImmutableSet<String> EFFECTS = ImmutableSet.of("NoSchedule", "PreferNoSchedule", "NoExecute");

    private NodeTaints() {}

    /**
     * Reads the kubelet's {@code --register-with-taints}, such as {@code
     * dedicated=web:NoSchedule,slow:PreferNoSchedule}.
     *
     * @return in the order of {@code flag}
     * @throws IllegalArgumentException if one has not the form {@code key=value:effect} or {@code key:effect}, a key,
     *     value or effect is not legal, or a key and effect are there twice; says which, and what is allowed
     */
    public static ImmutableList<Taint> parse(String flag) {
        ImmutableList.Builder<Taint> taints = ImmutableList.builder();
        for (String taint : Splitter.on(',').trimResults().omitEmptyStrings().split(flag)) {
            taints.add(parseOne(taint));
        }
        ImmutableList<Taint> parsed = taints.build();
        requireLegal(parsed);
        return parsed;
    }

    private static Taint parseOne(String taint) {
        List<String> parts = Splitter.on(':').splitToList(taint);
        List<String> keyAndValue = Splitter.on('=').splitToList(parts.get(0));
        if (parts.size() != 2 || keyAndValue.size() > 2) {
            throw new IllegalArgumentException("taint " + Quoted.value(taint)
                    + " is not of the form key=value:effect or key:effect, with one of " + EFFECTS);
        }
        return new TaintBuilder()
                .withKey(keyAndValue.get(0))
                .withValue(keyAndValue.size() == 2 && !keyAndValue.get(1).isEmpty() ? keyAndValue.get(1) : null)
                .withEffect(parts.get(1))
                .build();
    }

    /** Throws as {@link #parse}. */
    public static void requireLegal(List<Taint> taints) {
        Set<String> seen = new HashSet<>();
        for (Taint taint : taints) {
            String key = orEmpty(taint.getKey());
            LabelSyntax.requireKey("taint key", key);
            LabelSyntax.requireValue("value of taint " + key, orEmpty(taint.getValue()));
            String effect = orEmpty(taint.getEffect());
            if (!EFFECTS.contains(effect)) {
                throw new IllegalArgumentException("effect " + Quoted.value(effect) + " of taint " + key
                        + " does not exist: it is one of " + EFFECTS);
            }
            if (!seen.add(key + ":" + effect)) {
                throw new IllegalArgumentException(
                        "taint " + key + " with effect " + effect + " is there twice: a node has one of each");
            }
        }
    }

    private static String orEmpty(@Nullable String value) {
        return value == null ? "" : value;
    }
}
