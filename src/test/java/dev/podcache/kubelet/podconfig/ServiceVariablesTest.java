package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * TestFromServices of {@code pkg/kubelet/envvars/envvars_test.go}. MakeEnvironmentVariablesTest covers the selection of
 * Services.
 */
class ServiceVariablesTest {

    @Test
    void of_portWithoutName() {
        assertThat(variables(service("foo-bar", "1.2.3.4", port(8080, "TCP", null))))
                .containsExactly(
                        Map.entry("FOO_BAR_SERVICE_HOST", "1.2.3.4"),
                        Map.entry("FOO_BAR_SERVICE_PORT", "8080"),
                        Map.entry("FOO_BAR_PORT", "tcp://1.2.3.4:8080"),
                        Map.entry("FOO_BAR_PORT_8080_TCP", "tcp://1.2.3.4:8080"),
                        Map.entry("FOO_BAR_PORT_8080_TCP_PROTO", "tcp"),
                        Map.entry("FOO_BAR_PORT_8080_TCP_PORT", "8080"),
                        Map.entry("FOO_BAR_PORT_8080_TCP_ADDR", "1.2.3.4"));
    }

    @Test
    void of_severalPorts_firstIsTheServicesAndNamesAreTold() {
        assertThat(variables(service("abc-123", "5.6.7.8", port(8081, "UDP", "u-d-p"), port(8082, "TCP", "t-c-p"))))
                .containsExactly(
                        Map.entry("ABC_123_SERVICE_HOST", "5.6.7.8"),
                        Map.entry("ABC_123_SERVICE_PORT", "8081"),
                        Map.entry("ABC_123_SERVICE_PORT_U_D_P", "8081"),
                        Map.entry("ABC_123_SERVICE_PORT_T_C_P", "8082"),
                        Map.entry("ABC_123_PORT", "udp://5.6.7.8:8081"),
                        Map.entry("ABC_123_PORT_8081_UDP", "udp://5.6.7.8:8081"),
                        Map.entry("ABC_123_PORT_8081_UDP_PROTO", "udp"),
                        Map.entry("ABC_123_PORT_8081_UDP_PORT", "8081"),
                        Map.entry("ABC_123_PORT_8081_UDP_ADDR", "5.6.7.8"),
                        Map.entry("ABC_123_PORT_8082_TCP", "tcp://5.6.7.8:8082"),
                        Map.entry("ABC_123_PORT_8082_TCP_PROTO", "tcp"),
                        Map.entry("ABC_123_PORT_8082_TCP_PORT", "8082"),
                        Map.entry("ABC_123_PORT_8082_TCP_ADDR", "5.6.7.8"));
    }

    @Test
    void of_addressOfFamilySix_isBracketedInUrlsOnly() {
        assertThat(variables(service("super-ipv6", "2001:DB8::", port(8084, "TCP", null))))
                .containsEntry("SUPER_IPV6_SERVICE_HOST", "2001:DB8::")
                .containsEntry("SUPER_IPV6_PORT", "tcp://[2001:DB8::]:8084")
                .containsEntry("SUPER_IPV6_PORT_8084_TCP_ADDR", "2001:DB8::");
    }

    @Test
    void of_addressThatBeginsWithZeros_isBracketedToo() {
        assertThat(variables(service("a", "::7", port(80, "TCP", null)))).containsEntry("A_PORT", "tcp://[::7]:80");
    }

    @Test
    void of_noProtocol_isTcp() {
        assertThat(variables(service("a", "1.2.3.4", port(80, null, null))))
                .containsEntry("A_PORT_80_TCP_PROTO", "tcp");
    }

    @Test
    void of_noPorts_isNotTold() {
        assertThat(variables(service("a", "1.2.3.4"))).isEmpty();
    }

    private static Map<String, String> variables(Service service) {
        return ServiceVariables.of(new OneService(service), "shop", true);
    }

    private record OneService(Service service) implements ServiceLister {
        @Override
        public boolean hasSynced() {
            return true;
        }

        @Override
        public ImmutableList<Service> inNamespace(String namespace) {
            return namespace.equals("shop") ? ImmutableList.of(service) : ImmutableList.of();
        }

        @Override
        public void close() {}
    }

    private static Service service(String name, String ip, ServicePort... ports) {
        return new ServiceBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withClusterIP(ip)
                .withPorts(ports)
                .endSpec()
                .build();
    }

    private static ServicePort port(int number, @Nullable String protocol, @Nullable String name) {
        return new ServicePortBuilder()
                .withPort(number)
                .withProtocol(protocol)
                .withName(name)
                .build();
    }
}
