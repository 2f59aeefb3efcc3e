package dev.podcache.testing;

/** A feature that not every API server has. Used by {@link Needs}. */
public enum ServerFeature {
    /** Validation and defaults of each kind, and admission plugins that change new objects. */
    VALIDATION("validation and defaults of kinds"),
    RBAC("RBAC"),
    NODE_AUTHORIZER("the Node authorizer"),
    NODE_RESTRICTION("the NodeRestriction plugin"),
    /** The resource, and the admission plugin that adds the service account and its token volume to pods. */
    SERVICE_ACCOUNTS("service accounts"),
    TOKENS("tokens of service accounts"),
    /** The columns of {@code kubectl get}; without them, it prints name and age. */
    PRINTERS("printers"),
    PRIORITY_AND_FAIRNESS("priority and fairness"),
    CUSTOM_RESOURCES("custom resources"),
    /** The subresources of pods that a kubelet serves, such as {@code pods/log}. */
    KUBELET_CONNECTIONS("connections to kubelets"),
    /** The resource. A node agent lists Services before it starts a pod. */
    SERVICES("Services"),
    CERTIFICATES("CertificateSigningRequests"),
    ADMISSION_POLICIES("ValidatingAdmissionPolicies, from Kubernetes 1.30 on", true, 30),
    EPHEMERAL_CONTAINERS("ephemeral containers, from Kubernetes 1.25 on", 25),
    FILE_KEY_REF("fileKeyRef of variables, from Kubernetes 1.35 on", 35),
    HOSTNAME_OVERRIDE("hostnameOverride of pods, from Kubernetes 1.35 on", 35),
    /** Init containers that run beside the others, and probes over gRPC. */
    SIDECARS("sidecars, from Kubernetes 1.29 on", 29),
    RESIZE("the subresource resize of pods, from Kubernetes 1.33 on", 33),
    RESTART_RULES("restart rules of containers, from Kubernetes 1.35 on", 35);

    private static final int ALWAYS = 0;

    private final String text;
    private final boolean needsKubeApiServer;
    private final int since;

    /** Makes a feature of every kube-apiserver, which a {@linkplain ServerVersion#isStandIn() stand-in} lacks. */
    ServerFeature(String text) {
        this(text, true, ALWAYS);
    }

    /** Makes a feature of every server from 1.{@code since} on. */
    ServerFeature(String text, int since) {
        this(text, false, since);
    }

    ServerFeature(String text, boolean needsKubeApiServer, int since) {
        this.text = text;
        this.needsKubeApiServer = needsKubeApiServer;
        this.since = since;
    }

    /** Returns whether a server of that version has the feature. */
    boolean isIn(ServerVersion version) {
        return version.isAtLeast(since) && !(needsKubeApiServer && version.isStandIn());
    }

    /** Returns the name for messages, such as {@code the Node authorizer}. */
    @Override
    public String toString() {
        return text;
    }
}
