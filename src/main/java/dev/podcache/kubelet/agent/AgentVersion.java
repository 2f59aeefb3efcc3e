package dev.podcache.kubelet.agent;

import com.google.common.base.Splitter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The kubelet version in a Node's status, in the form that Kubernetes' clients can parse. */
final class AgentVersion {

    /** The kubelet whose behaviour the agent follows. Tools such as kubeadm refuse to upgrade a cluster with older ones. */
    private static final String FOLLOWED = "v1.36.0";

    /** Of classes without a manifest, such as those of a test. */
    private static final String UNPACKED = "0.1";

    private static final Splitter DOTS = Splitter.on('.');

    private AgentVersion() {}

    /** Returns the version of the kubelet that the agent follows, with Podcache's own behind it: {@code v1.36.0-podcache.0.1}. */
    static String kubelet() {
        return of(AgentVersion.class.getPackage().getImplementationVersion());
    }

    /** Returns the version of an agent with this version of Podcache, of which the first two numbers are shown. */
    static String of(@Nullable String own) {
        List<String> numbers = DOTS.splitToList(own == null ? UNPACKED : own);
        return FOLLOWED + "-podcache." + String.join(".", numbers.subList(0, Math.min(2, numbers.size())));
    }
}
