package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.podsync.PodThreads;
import dev.podcache.kubelet.runtime.PodRuntime;

/**
 * The options of a node agent.
 *
 * @param node the name of the node
 * @param facts the machine whose capacity the node reports
 * @param runtime runs the containers
 * @param threads sync the pods; shut down when the agent is closed
 * @param version the kubelet version in the Node's status
 */
public record NodeAgentOptions(
        String node,
        KubeletConfiguration configuration,
        HostFacts facts,
        PodRuntime runtime,
        PodThreads threads,
        String version) {}
