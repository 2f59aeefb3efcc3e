package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.nodestatus.NodeImage;
import dev.podcache.kubelet.podsync.PodAdmission;
import dev.podcache.kubelet.podsync.PodListener;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.server.KubeletServerBuilder;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * What a {@link NodeAgentBuilder} was told, as the parts of an agent read it. Immutable; the builder's setters say what each
 * option means.
 *
 * @param configuration what a kubelet's file can say, too
 * @param taintsGiven whether somebody chose the taints, so that a hollow node is not tainted by itself
 * @param syncs how many pods are synced at the same time
 * @param threadsOf makes the threads of the pod workers, from {@code syncs}
 */
record NodeAgentOptions(
        String node,
        HostFacts facts,
        KubeletConfiguration configuration,
        Function<Timekeeper, PodRuntime> runtime,
        ImmutableMap<String, Quantity> capacity,
        Supplier<List<NodeCondition>> conditions,
        Supplier<List<NodeImage>> images,
        boolean registerAgain,
        boolean taintsGiven,
        String version,
        ImmutableMap<String, String> flags,
        Optional<Function<NodeAgent, Supplier<String>>> scrape,
        UnaryOperator<KubeletServerBuilder> server,
        PodListener listener,
        PodAdmission admission,
        PodcacheMetrics metrics,
        UnaryOperator<Caches> reads,
        int syncs,
        BiFunction<Integer, Timekeeper, TaskThreads> threadsOf) {}
