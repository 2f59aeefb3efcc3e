package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What {@link HollowNodes} are like. By default they have 32 cores, 256 GiB of memory, room for 110 pods and a kubelet's
 * periods and its strategy, WATCH. Not thread-safe; read when the nodes are started.
 */
public final class HollowTemplate {

    private static final long GIGABYTE = 1L << 30;

    String prefix = "hollow-";
    ImmutableMap<String, String> labels = ImmutableMap.of();
    ImmutableList<Taint> taints = ImmutableList.of();
    int cores = 32;
    long memoryBytes = 256 * GIGABYTE;
    int maxPods = 110;
    ChangeDetectionStrategy strategy = ChangeDetectionStrategy.WATCH;
    Duration leaseDuration = Duration.ofSeconds(40);
    Duration statusReport = Duration.ofMinutes(5);
    Duration syncFrequency = Duration.ofMinutes(1);
    ImmutableList<HollowStage> stages = ImmutableList.of();

    /**
     * Sets the beginning of the nodes' names; a number from 0 follows. Default: {@code hollow-}.
     *
     * @throws IllegalArgumentException if such a name is not a legal name of an object
     */
    public HollowTemplate prefix(String value) {
        ObjectKey.validatedClusterScoped(Objects.requireNonNull(value, "prefix") + 0);
        prefix = value;
        return this;
    }

    /** Sets the labels of each node. Default: only those of its platform and host name. */
    public HollowTemplate labels(Map<String, String> values) {
        labels = ImmutableMap.copyOf(Objects.requireNonNull(values, "labels"));
        return this;
    }

    /**
     * Sets the taints of each node. Default: none. Where a scheduler runs, it then places any pod on these nodes, which becomes
     * Running and does nothing: to keep them away, give the nodes the taint {@code podcache.dev/hollow:NoSchedule}, as {@code
     * podcache hollow} does.
     */
    public HollowTemplate taints(List<Taint> values) {
        taints = ImmutableList.copyOf(Objects.requireNonNull(values, "taints"));
        return this;
    }

    /** Sets what each node has. */
    public HollowTemplate capacity(int processors, long bytesOfMemory, int pods) {
        cores = positive("the number of processors", processors);
        memoryBytes = positive("the memory", bytesOfMemory);
        maxPods = positive("the number of pods", pods);
        return this;
    }

    /** Sets how changes of Secrets and ConfigMaps are detected. Default: WATCH. */
    public HollowTemplate strategy(ChangeDetectionStrategy value) {
        strategy = Objects.requireNonNull(value, "strategy");
        return this;
    }

    /** Sets the duration of each Lease, which is renewed after a quarter of it. At least four whole seconds. */
    public HollowTemplate leaseDuration(Duration value) {
        leaseDuration = Objects.requireNonNull(value, "leaseDuration");
        return this;
    }

    /** Sets how often an unchanged status of a node is reported. */
    public HollowTemplate statusReport(Duration value) {
        statusReport = Objects.requireNonNull(value, "statusReport");
        return this;
    }

    /** Sets how often a pod is synced if nothing changes. */
    public HollowTemplate syncFrequency(Duration value) {
        syncFrequency = Objects.requireNonNull(value, "syncFrequency");
        return this;
    }

    /** Sets how the containers of pods behave: the first stage whose labels a pod has applies to it. */
    public HollowTemplate stages(List<HollowStage> values) {
        stages = ImmutableList.copyOf(Objects.requireNonNull(values, "stages"));
        return this;
    }

    /** Returns the name of the node with this number. */
    public String name(int number) {
        return prefix + number;
    }

    private static int positive(String what, int value) {
        return (int) positive(what, (long) value);
    }

    private static long positive(String what, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(what + " of a hollow node must be positive, but is " + value);
        }
        return value;
    }
}
