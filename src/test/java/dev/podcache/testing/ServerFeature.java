package dev.podcache.testing;

/** A feature of a kube-apiserver that a server on the API server library of Kubernetes lacks. Used by {@link Needs}. */
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
    CERTIFICATES("CertificateSigningRequests");

    private final String text;

    ServerFeature(String text) {
        this.text = text;
    }

    /** Returns the name for messages, such as {@code the Node authorizer}. */
    @Override
    public String toString() {
        return text;
    }
}
