package dev.podcache.kubelet.podconfig;

import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Environment variables with the addresses of Services: always for the Service of the API server, {@code
 * default/kubernetes}, and for all Services of the pod's namespace if the pod sets {@code enableServiceLinks}.
 *
 * <p>Follows {@code getServiceEnvVarMap} of the kubelet's {@code kubelet_pods.go} and {@code pkg/kubelet/envvars}.
 * Unlike upstream, whose order is random, it orders the variables by the names of the Services.
 */
final class ServiceVariables {

    private static final String API_SERVER_NAMESPACE = "default";
    private static final String API_SERVER_NAME = "kubernetes";

    private ServiceVariables() {}

    /** Returns the values of the variables for a pod of {@code namespace}, by variable name. */
    static Map<String, String> of(ServiceLister lister, String namespace, boolean enableServiceLinks) {
        Map<String, Service> visible = new TreeMap<>();
        for (Service service : lister.inNamespace(API_SERVER_NAMESPACE)) {
            if (hasClusterIp(service)
                    && API_SERVER_NAME.equals(service.getMetadata().getName())) {
                visible.put(API_SERVER_NAME, service);
            }
        }
        if (enableServiceLinks) {
            for (Service service : lister.inNamespace(namespace)) {
                if (hasClusterIp(service)) {
                    visible.put(service.getMetadata().getName(), service);
                }
            }
        }
        Map<String, String> variables = new LinkedHashMap<>();
        visible.values().forEach(service -> add(service, variables));
        return variables;
    }

    /** Returns whether the Service has a cluster IP; headless Services have none. */
    static boolean hasClusterIp(Service service) {
        String ip = service.getSpec() == null ? null : service.getSpec().getClusterIP();
        return ip != null && !ip.isEmpty() && !ip.equals("None");
    }

    private static void add(Service service, Map<String, String> variables) {
        String prefix = variable(service.getMetadata().getName());
        String host = service.getSpec().getClusterIP();
        List<ServicePort> ports = Nullables.orEmpty(service.getSpec().getPorts());
        if (ports.isEmpty()) {
            return;
        }
        variables.put(prefix + "_SERVICE_HOST", host);
        variables.put(prefix + "_SERVICE_PORT", String.valueOf(ports.get(0).getPort()));
        for (ServicePort port : ports) {
            String name = Nullables.orEmpty(port.getName());
            if (!name.isEmpty()) {
                variables.put(prefix + "_SERVICE_PORT_" + variable(name), String.valueOf(port.getPort()));
            }
        }
        variables.put(prefix + "_PORT", url(host, ports.get(0)));
        for (ServicePort port : ports) {
            addLink(prefix, host, port, variables);
        }
    }

    /** Adds the variables of Docker's legacy container links, which old images still read. */
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
        String protocol = Nullables.orEmpty(port.getProtocol());
        return protocol.isEmpty() ? "tcp" : protocol.toLowerCase(Locale.ROOT);
    }

    private static String variable(String name) {
        return name.toUpperCase(Locale.ROOT).replace('-', '_');
    }
}
