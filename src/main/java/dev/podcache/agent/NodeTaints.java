package dev.podcache.agent;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The taints that the node is registered with. */
final class NodeTaints {

    private static final String FIELD = "registerWithTaints";
    private static final ImmutableSet<String> EFFECTS = ImmutableSet.of("NoSchedule", "PreferNoSchedule", "NoExecute");
    private static final ImmutableSet<String> FIELDS = ImmutableSet.of("key", "value", "effect");

    private NodeTaints() {}

    /** Reads the form of the command line, {@code key=value:effect,...}; what is wrong with the parts is said by {@link #of}. */
    static ImmutableList<Map<String, String>> parse(String text) {
        ImmutableList.Builder<Map<String, String>> taints = ImmutableList.builder();
        for (String spec : Splitter.on(',').omitEmptyStrings().split(text)) {
            int colon = spec.lastIndexOf(':');
            String keyAndValue = colon < 0 ? spec : spec.substring(0, colon);
            int equals = keyAndValue.indexOf('=');
            taints.add(ImmutableMap.of(
                    "key", equals < 0 ? keyAndValue : keyAndValue.substring(0, equals),
                    "value", equals < 0 ? "" : keyAndValue.substring(equals + 1),
                    "effect", colon < 0 ? "" : spec.substring(colon + 1)));
        }
        return taints.build();
    }

    /** The taints that are written, else none. */
    static ImmutableList<Taint> of(Settings all) {
        Setting setting = all.find(FIELD);
        if (setting == null) {
            return ImmutableList.of();
        }
        if (!(setting.value() instanceof List<?> list)) {
            throw setting.refused("a list, such as [{key: dedicated, value: gpu, effect: NoSchedule}]");
        }
        Set<String> seen = new HashSet<>();
        ImmutableList.Builder<Taint> taints = ImmutableList.builder();
        for (Object element : list) {
            Taint taint = taint(setting, element);
            if (!seen.add(taint.getKey() + ":" + taint.getEffect())) {
                throw setting.refused(taint.getKey() + ":" + taint.getEffect(), "there only once");
            }
            taints.add(taint);
        }
        return taints.build();
    }

    private static Taint taint(Setting setting, Object element) {
        if (!(element instanceof Map<?, ?> map)) {
            throw setting.refused(element, "a taint, such as {key: dedicated, value: gpu, effect: NoSchedule}");
        }
        for (Object name : map.keySet()) {
            if (!FIELDS.contains(name)) {
                throw setting.refused(name, "key, value or effect, the fields of a taint that may be set");
            }
        }
        String key = text(setting, map.get("key"));
        String value = text(setting, map.get("value"));
        String effect = text(setting, map.get("effect"));
        if (!LabelSyntax.isKey(key)) {
            throw setting.refused(key, "a key: " + LabelSyntax.KEYS);
        }
        if (!LabelSyntax.isValue(value)) {
            throw setting.refused(value, "a value: " + LabelSyntax.VALUES);
        }
        if (!EFFECTS.contains(effect)) {
            throw setting.refused(effect, "an effect: " + String.join(", ", EFFECTS));
        }
        return new TaintBuilder()
                .withKey(key)
                .withValue(value.isEmpty() ? null : value)
                .withEffect(effect)
                .build();
    }

    private static String text(Setting setting, @Nullable Object value) {
        if (value == null) {
            return "";
        }
        if (value instanceof String text) {
            return text;
        }
        throw setting.refused(value, "text: put it in quotes");
    }
}
