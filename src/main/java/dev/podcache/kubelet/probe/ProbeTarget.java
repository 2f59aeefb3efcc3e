package dev.podcache.kubelet.probe;

import com.google.common.base.Strings;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import org.jspecify.annotations.Nullable;

/**
 * The container that a check is about.
 *
 * @param podIp the pod's address, or "" if it has none
 */
record ProbeTarget(Pod pod, Container container, String podIp) {

    static final int LAST_PORT = 65_535;

    PodKey key() {
        return PodReferences.key(pod);
    }

    /**
     * Returns {@code host}, or the pod's address if it is null or empty.
     *
     * @throws IllegalArgumentException if the pod has no address
     */
    String host(@Nullable String host) {
        String address = Strings.isNullOrEmpty(host) ? podIp : host;
        if (address.isEmpty()) {
            throw new IllegalArgumentException("the pod has no IP address");
        }
        return address;
    }

    /**
     * Returns the number of a port that a probe gives by number or by name.
     *
     * @throws IllegalArgumentException if it is neither a valid number nor the name of a port of the container
     */
    int port(@Nullable IntOrString port) {
        if (port == null) {
            throw new IllegalArgumentException("the probe has no port");
        }
        Integer number = port.getIntVal();
        return checked(number != null ? number : named(Strings.nullToEmpty(port.getStrVal())));
    }

    // follows ResolveContainerPort of pkg/probe/util.go of Kubernetes
    private int named(String name) {
        for (ContainerPort port : container.getPorts()) {
            if (name.equals(port.getName()) && port.getContainerPort() != null) {
                return port.getContainerPort();
            }
        }
        try {
            return Integer.parseInt(name);
        } catch (NumberFormatException noNumber) {
            throw new IllegalArgumentException(
                    "container " + container.getName() + " has no port named \"" + name + "\"", noNumber);
        }
    }

    private static int checked(int port) {
        if (port < 1 || port > LAST_PORT) {
            throw new IllegalArgumentException("invalid port number: " + port);
        }
        return port;
    }
}
