package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.util.function.Function;

/**
 * The options of a node agent.
 *
 * @param node the name of the node
 * @param facts the machine whose capacity the node reports
 * @param runtime runs the containers
 * @param threads creates the threads that sync the pods; closed with the agent
 * @param version the kubelet version in the Node's status
 */
public record NodeAgentOptions(
        String node,
        KubeletConfiguration configuration,
        HostFacts facts,
        PodRuntime runtime,
        Function<Timekeeper, TaskThreads> threads,
        String version) {}
