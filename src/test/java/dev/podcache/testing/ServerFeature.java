package dev.podcache.testing;

/** A part of a kube-apiserver that a server on Kubernetes' API server library lacks. {@link Needs} names them. */
public enum ServerFeature {
    /** Each kind's own rules: values that are refused, defaults, plugins that change what is created. */
    VALIDATION("validation and defaults of kinds"),
    RBAC("RBAC"),
    NODE_AUTHORIZER("the Node authorizer"),
    NODE_RESTRICTION("the NodeRestriction plugin"),
    /** The resource, and the plugin that gives each pod its account and token volume. */
    SERVICE_ACCOUNTS("service accounts"),
    TOKENS("tokens of service accounts"),
    /** The columns of {@code kubectl get}; without them it shows name and age. */
    PRINTERS("printers"),
    PRIORITY_AND_FAIRNESS("priority and fairness"),
    CUSTOM_RESOURCES("custom resources"),
    /** The resource: a node agent starts no pod before it has listed them. */
    SERVICES("Services");

    private final String text;

    ServerFeature(String text) {
        this.text = text;
    }

    /** What messages call it, such as {@code the Node authorizer}. */
    @Override
    public String toString() {
        return text;
    }
}
