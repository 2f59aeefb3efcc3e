package dev.podcache.cli.config;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.nodestatus.NodeTaints;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parses the taints to register the node with: text on the command line, a list of maps in a file. */
final class TaintSettings {

    private static final ImmutableSet<String> FIELDS = ImmutableSet.of("key", "value", "effect");

    private TaintSettings() {}

    /** Returns the taints, or none if they are not set. */
    static ImmutableList<Taint> of(Settings all) {
        Setting setting = all.find("registerWithTaints");
        if (setting == null) {
            return ImmutableList.of();
        }
        if (setting.ofFlag()) {
            return setting.read(
                    () -> ImmutableList.copyOf(NodeTaints.parse(setting.value().toString())));
        }
        if (!(setting.value() instanceof List<?> list)) {
            throw setting.refused("a list, such as [{key: dedicated, value: gpu, effect: NoSchedule}]");
        }
        ImmutableList<Taint> taints =
                list.stream().map(element -> taint(setting, element)).collect(ImmutableList.toImmutableList());
        return setting.read(() -> {
            NodeTaints.requireLegal(taints);
            return taints;
        });
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
        return new TaintBuilder()
                .withKey(text(setting, map.get("key")))
                .withValue(text(setting, map.get("value")))
                .withEffect(text(setting, map.get("effect")))
                .build();
    }

    private static @Nullable String text(Setting setting, @Nullable Object value) {
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw setting.refused(value, "text: put it in quotes");
    }
}
