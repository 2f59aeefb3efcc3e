package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Variables that tell a container where Services are: of the API server's own Service always, of the others in the
 * pod's namespace if it wants them ({@code enableServiceLinks}).
 *
 * <p>Follows {@code getServiceEnvVarMap} of the kubelet's {@code kubelet_pods.go} and {@code pkg/kubelet/envvars}, in
 * the order of the Services' names where upstream's is random.
 */
final class ServiceVariables {

    private static final String MASTER_NAMESPACE = "default";
    private static final String MASTER = "kubernetes";

    private ServiceVariables() {}

    /** The variables for a pod of {@code namespace}. */
    static ImmutableMap<String, String> of(ServiceLister lister, String namespace, boolean links) {
        Map<String, Service> told = new TreeMap<>();
        for (Service service : lister.inNamespace(MASTER_NAMESPACE)) {
            if (hasAddress(service) && MASTER.equals(service.getMetadata().getName())) {
                told.put(MASTER, service);
            }
        }
        if (links) {
            for (Service service : lister.inNamespace(namespace)) {
                if (hasAddress(service)) {
                    told.put(service.getMetadata().getName(), service);
                }
            }
        }
        Map<String, String> variables = new LinkedHashMap<>();
        told.values().forEach(service -> add(service, variables));
        return ImmutableMap.copyOf(variables);
    }

    /** Whether clients reach it by an address of its own. */
    static boolean hasAddress(Service service) {
        String ip = service.getSpec() == null ? null : service.getSpec().getClusterIP();
        return ip != null && !ip.isEmpty() && !ip.equals("None");
    }

    private static void add(Service service, Map<String, String> variables) {
        String prefix = variable(service.getMetadata().getName());
        String host = service.getSpec().getClusterIP();
        List<ServicePort> ports = AbsentObject.orEmpty(service.getSpec().getPorts());
        if (ports.isEmpty()) {
            return;
        }
        variables.put(prefix + "_SERVICE_HOST", host);
        variables.put(prefix + "_SERVICE_PORT", String.valueOf(ports.get(0).getPort()));
        for (ServicePort port : ports) {
            String name = AbsentObject.orEmpty(port.getName());
            if (!name.isEmpty()) {
                variables.put(prefix + "_SERVICE_PORT_" + variable(name), String.valueOf(port.getPort()));
            }
        }
        variables.put(prefix + "_PORT", url(host, ports.get(0)));
        for (ServicePort port : ports) {
            addLink(prefix, host, port, variables);
        }
    }

    /** What Docker's links once set, which old images still look for. */
    private static void addLink(String prefix, String host, ServicePort port, Map<String, String> variables) {
        String protocol = protocol(port);
        String link = prefix + "_PORT_" + port.getPort() + "_" + protocol.toUpperCase(Locale.ROOT);
        variables.put(link, url(host, port));
        variables.put(link + "_PROTO", protocol);
        variables.put(link + "_PORT", String.valueOf(port.getPort()));
        variables.put(link + "_ADDR", host);
    }

    private static String url(String host, ServicePort port) {
        String address = host.indexOf(':') < 0 ? host : "[" + host + "]";
        return protocol(port) + "://" + address + ":" + port.getPort();
    }

    private static String protocol(ServicePort port) {
        String protocol = AbsentObject.orEmpty(port.getProtocol());
        return protocol.isEmpty() ? "tcp" : protocol.toLowerCase(Locale.ROOT);
    }

    private static String variable(String name) {
        return name.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
