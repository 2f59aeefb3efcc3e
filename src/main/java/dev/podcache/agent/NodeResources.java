package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;

/** Maps of amounts: what is reserved, and from where on the node is under pressure. Checked here, so that nobody fails on them later. */
final class NodeResources {

    private static final ImmutableSet<String> RESERVABLE = ImmutableSet.of("cpu", "memory", "ephemeral-storage", "pid");

    private static final ImmutableSet<String> SIGNALS = ImmutableSet.of(
            "memory.available",
            "nodefs.available",
            "nodefs.inodesFree",
            "imagefs.available",
            "imagefs.inodesFree",
            "containerfs.available",
            "containerfs.inodesFree",
            "allocatableMemory.available",
            "pid.available");

    /** As in the kubelet's {@code pkg/kubelet/eviction/defaults_linux.go}. */
    private static final ImmutableMap<String, String> DEFAULT_HARD = ImmutableMap.of(
            "memory.available", "100Mi",
            "nodefs.available", "10%",
            "nodefs.inodesFree", "5%",
            "imagefs.available", "15%",
            "imagefs.inodesFree", "5%");

    private static final BigDecimal ALL = BigDecimal.valueOf(100);

    private NodeResources() {}

    /** What is reserved, resource by resource. */
    static ImmutableMap<String, String> reserved(Settings all, String field) {
        Setting setting = all.find(field);
        ImmutableMap<String, String> reserved = all.texts(field);
        if (setting == null || reserved == null) {
            return ImmutableMap.of();
        }
        reserved.forEach((resource, amount) -> {
            if (!RESERVABLE.contains(resource)) {
                throw setting.refused(resource, "a resource that can be reserved: " + String.join(", ", RESERVABLE));
            }
            if (!isQuantity(amount)) {
                throw setting.refused(amount, "a quantity that is not negative, such as 500m or 1Gi");
            }
        });
        return reserved;
    }

    /** The hard thresholds, signal by signal. What is written replaces all defaults, unless they are to be merged. */
    static ImmutableMap<String, String> evictionHard(Settings all) {
        boolean merge = all.bool("mergeDefaultEvictionSettings", false);
        Setting setting = all.find("evictionHard");
        ImmutableMap<String, String> written = all.texts("evictionHard");
        if (setting == null || written == null) {
            return DEFAULT_HARD;
        }
        written.forEach((signal, threshold) -> {
            if (!SIGNALS.contains(signal)) {
                throw setting.refused(signal, "a signal: " + String.join(", ", SIGNALS));
            }
            if (!isPercentage(threshold) && !isQuantity(threshold)) {
                throw setting.refused(threshold, "a percentage such as 10%, or a quantity such as 100Mi");
            }
        });
        return merge && !setting.ofFlag()
                ? ImmutableMap.<String, String>builder()
                        .putAll(DEFAULT_HARD)
                        .putAll(written)
                        .buildKeepingLast()
                : written;
    }

    private static boolean isQuantity(String text) {
        try {
            return Quantity.parse(text).getNumericalAmount().signum() >= 0;
        } catch (IllegalArgumentException | ArithmeticException none) {
            return false;
        }
    }

    private static boolean isPercentage(String text) {
        try {
            BigDecimal percent = new BigDecimal(text.substring(0, Math.max(0, text.length() - 1)));
            return text.endsWith("%") && percent.signum() >= 0 && percent.compareTo(ALL) <= 0;
        } catch (NumberFormatException none) {
            return false;
        }
    }
}
