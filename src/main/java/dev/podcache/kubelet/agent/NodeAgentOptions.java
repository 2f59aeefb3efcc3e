package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.podsync.PodThreads;
import dev.podcache.kubelet.runtime.PodRuntime;

/**
 * Who a node agent is.
 *
 * @param node its name
 * @param facts of the machine that it stands for
 * @param runtime runs its containers
 * @param threads where pods are seen to; ended with the agent
 * @param version that the node shows as its kubelet's
 */
public record NodeAgentOptions(
        String node,
        KubeletConfiguration configuration,
        HostFacts facts,
        PodRuntime runtime,
        PodThreads threads,
        String version) {}
