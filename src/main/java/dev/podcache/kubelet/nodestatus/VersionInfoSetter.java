package dev.podcache.kubelet.nodestatus;

import dev.podcache.kubelet.host.HostFacts;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import java.time.Instant;

/** Sets the versions of the operating system, the container runtime and the kubelet. */
final class VersionInfoSetter implements NodeStatusSetter {

    private static final String UNKNOWN = "Unknown";

    private final HostFacts facts;
    private final NodeVersions versions;

    VersionInfoSetter(HostFacts facts, NodeVersions versions) {
        this.facts = facts;
        this.versions = versions;
    }

    @Override
    public void set(Node node, Instant now) {
        String kernel = facts.kernelVersion()
                .orElseThrow(() ->
                        new IllegalStateException("error getting version info: the kernel version cannot be read"));
        NodeSystemInfo info = infoOf(node);
        info.setKernelVersion(kernel);
        info.setOsImage(facts.osImage().orElse(UNKNOWN));
        info.setContainerRuntimeVersion(
                versions.runtimeType() + "://" + versions.runtimeVersion().get());
        info.setKubeletVersion(versions.kubelet());
        // empty, as upstream, which no longer knows the version of kube-proxy
        info.setKubeProxyVersion("");
    }

    /** Returns the Node's own system info. Adds it if there is none. */
    static NodeSystemInfo infoOf(Node node) {
        if (node.getStatus().getNodeInfo() == null) {
            node.getStatus().setNodeInfo(new NodeSystemInfo());
        }
        return node.getStatus().getNodeInfo();
    }
}
