package dev.podcache.kubelet.nodestatus;

import dev.podcache.kubelet.host.HostFacts;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sets the versions of the operating system, of the runtime and of us. */
final class VersionInfoSetter implements NodeStatusSetter {

    private static final Logger log = LoggerFactory.getLogger(VersionInfoSetter.class);

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
                .orElseThrow(() -> new IllegalStateException(
                        "error getting version info: the version of the kernel cannot be read"));
        NodeSystemInfo info = infoOf(node);
        info.setKernelVersion(kernel);
        info.setOsImage(facts.osImage().orElse(UNKNOWN));
        info.setContainerRuntimeVersion(versions.runtimeType() + "://" + runtimeVersion());
        info.setKubeletVersion(versions.kubelet());
        // what upstream reports since it no longer claims to know the proxy's
        info.setKubeProxyVersion("");
    }

    private String runtimeVersion() {
        try {
            return versions.runtimeVersion().get();
        } catch (RuntimeException e) {
            log.warn("Cannot ask the container runtime for its version", e);
            return UNKNOWN;
        }
    }

    /** The part of a status that is about the system, to be changed in place. */
    static NodeSystemInfo infoOf(Node node) {
        if (node.getStatus().getNodeInfo() == null) {
            node.getStatus().setNodeInfo(new NodeSystemInfo());
        }
        return node.getStatus().getNodeInfo();
    }
}
