package dev.podcache.kubelet.podconfig;

import com.google.common.base.CharMatcher;
import dev.podcache.object.Names;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import org.jspecify.annotations.Nullable;

/**
 * The name of the machine that the containers of a pod see. Immutable.
 *
 * <p>Follows {@code GeneratePodHostNameAndDomain} of the kubelet's {@code kubelet_pods.go} and {@code GetNodenameForKernel} of its
 * {@code pkg/kubelet/util}. Unlike upstream, which then appends a domain that ends with a dot, a pod has no full name without
 * a cluster domain.
 *
 * @param hostname what the kernel answers, with or without the domain; on the network of the host, the name of the node
 * @param fqdn the full name in the DNS of the cluster; "" if it has none
 */
record PodHostname(String hostname, String fqdn) {

    /** Linux keeps 64 bytes, of which a kubelet leaves one for the zero byte. */
    private static final int LONGEST_HOSTNAME = 63;

    private static final int LONGEST_FQDN = 64;
    private static final CharMatcher NOT_AT_THE_END = CharMatcher.anyOf("-.");

    /**
     * Returns the host name of a pod.
     *
     * @param clusterDomain such as {@code cluster.local}; "" if there is none
     * @throws PodConfigException if a name is not legal, or the full name is wanted and too long
     */
    static PodHostname of(Pod pod, String clusterDomain, ConfigTarget target) {
        PodSpec spec = pod.getSpec();
        PodHostname own = spec.getHostnameOverride() == null
                ? inCluster(pod, clusterDomain, target)
                : new PodHostname(overridden(spec.getHostnameOverride(), target), "");
        // the pod's own names are checked all the same
        return Boolean.TRUE.equals(spec.getHostNetwork())
                ? new PodHostname(Nullables.orEmpty(spec.getNodeName()), "")
                : own;
    }

    private static String overridden(String name, ConfigTarget target) {
        if (!Names.isSubdomain(name)) {
            throw target.failure("pod HostnameOverride " + Quoted.value(name)
                    + " is not a valid DNS subdomain: use lower-case letters, digits, '-' and '.'");
        }
        return truncated(name);
    }

    private static PodHostname inCluster(Pod pod, String clusterDomain, ConfigTarget target) {
        PodSpec spec = pod.getSpec();
        String given = label("Hostname", spec.getHostname(), target);
        String hostname = truncated(given.isEmpty() ? pod.getMetadata().getName() : given);
        String subdomain = label("Subdomain", spec.getSubdomain(), target);
        if (subdomain.isEmpty() || clusterDomain.isEmpty()) {
            return new PodHostname(hostname, "");
        }
        String fqdn = hostname + "." + subdomain + "." + pod.getMetadata().getNamespace() + ".svc." + clusterDomain;
        if (!Boolean.TRUE.equals(spec.getSetHostnameAsFQDN())) {
            return new PodHostname(hostname, fqdn);
        }
        if (fqdn.length() > LONGEST_FQDN) {
            throw target.failure("failed to construct FQDN from pod hostname and cluster domain, FQDN " + fqdn
                    + " is too long (" + LONGEST_FQDN + " characters is the max, " + fqdn.length()
                    + " characters requested)");
        }
        return new PodHostname(fqdn, fqdn);
    }

    private static String label(String field, @Nullable String value, ConfigTarget target) {
        String name = Nullables.orEmpty(value);
        if (!name.isEmpty() && !Names.isLabel(name)) {
            throw target.failure("pod " + field + " " + Quoted.value(name)
                    + " is not a valid DNS label: use at most 63 lower-case letters, digits and '-'");
        }
        return name;
    }

    /** Names of pods and overrides may be longer, and may have a dot where they are cut. */
    private static String truncated(String name) {
        return name.length() <= LONGEST_HOSTNAME
                ? name
                : NOT_AT_THE_END.trimTrailingFrom(name.substring(0, LONGEST_HOSTNAME));
    }
}
