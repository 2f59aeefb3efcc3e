package dev.podcache.agent;

import dev.podcache.nodestatus.HostFacts;
import dev.podcache.podsync.PodRuntime;
import dev.podcache.podsync.PodThreads;

/**
 * Who a node agent is.
 *
 * @param node its name
 * @param facts of the machine that it stands for
 * @param runtime runs its containers
 * @param threads where pods are seen to; ended with the agent
 * @param version that the node shows as its kubelet's
 */
record NodeAgentOptions(
        String node,
        KubeletConfiguration configuration,
        HostFacts facts,
        PodRuntime runtime,
        PodThreads threads,
        String version) {}
