package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Splitter;
import com.google.common.base.Strings;
import com.google.common.collect.ImmutableSet;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Parses and checks the taints that a node registers with. */
public final class NodeTaints {

    // After ParseTaints and the validation of taints in kubernetes/kubernetes, pkg/util/taints.

    private static final ImmutableSet<String> EFFECTS = ImmutableSet.of("NoSchedule", "PreferNoSchedule", "NoExecute");

    private NodeTaints() {}

    /**
     * Parses the kubelet's {@code --register-with-taints}, such as {@code
     * dedicated=web:NoSchedule,slow:PreferNoSchedule}.
     *
     * @return an unmodifiable list, in the order of {@code flag}
     * @throws IllegalArgumentException if a taint does not have the form {@code key=value:effect} or
     *     {@code key:effect}, a key, value or effect is not legal, or a key and effect occur twice; the message names
     *     the taint and the rule
     */
    public static List<Taint> parse(String flag) {
        List<Taint> taints = Splitter.on(',')
                .trimResults()
                .omitEmptyStrings()
                .splitToStream(flag)
                .map(NodeTaints::parseOne)
                .toList();
        requireLegal(taints);
        return taints;
    }

    private static Taint parseOne(String taint) {
        List<String> parts = Splitter.on(':').splitToList(taint);
        List<String> keyAndValue = Splitter.on('=').splitToList(parts.get(0));
        if (parts.size() != 2 || keyAndValue.size() > 2) {
            throw new IllegalArgumentException("taint " + Quoted.value(taint)
                    + " does not have the form key=value:effect or key:effect, with one of the effects " + EFFECTS);
        }
        return new TaintBuilder()
                .withKey(keyAndValue.get(0))
                .withValue(keyAndValue.size() == 2 && !keyAndValue.get(1).isEmpty() ? keyAndValue.get(1) : null)
                .withEffect(parts.get(1))
                .build();
    }

    /**
     * Checks taints.
     *
     * @throws IllegalArgumentException as {@link #parse}, if a key, value or effect is not legal or occurs twice
     */
    public static void requireLegal(List<Taint> taints) {
        Set<String> seen = new HashSet<>();
        for (Taint taint : taints) {
            String key = Strings.nullToEmpty(taint.getKey());
            LabelSyntax.requireKey("taint key", key);
            LabelSyntax.requireValue("value of taint " + key, Strings.nullToEmpty(taint.getValue()));
            String effect = Strings.nullToEmpty(taint.getEffect());
            if (!EFFECTS.contains(effect)) {
                throw new IllegalArgumentException("effect " + Quoted.value(effect) + " of taint " + key
                        + " does not exist; use one of " + EFFECTS);
            }
            if (!seen.add(key + ":" + effect)) {
                throw new IllegalArgumentException("taint " + key + " with effect " + effect + " occurs twice");
            }
        }
    }
}
