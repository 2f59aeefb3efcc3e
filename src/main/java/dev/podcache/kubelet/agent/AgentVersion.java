package dev.podcache.kubelet.agent;

import org.jspecify.annotations.Nullable;

/** The kubelet version in a Node's status, in the form that Kubernetes' clients can parse. */
final class AgentVersion {

    private AgentVersion() {}

    /** Returns Podcache's version if it is in the manifest of the jar, else {@code v0.0.0+podcache}. */
    static String kubelet() {
        @Nullable String version = AgentVersion.class.getPackage().getImplementationVersion();
        return "v" + (version == null ? "0.0.0" : version) + "+podcache";
    }
}
