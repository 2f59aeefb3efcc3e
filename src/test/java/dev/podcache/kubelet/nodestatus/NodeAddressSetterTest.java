package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.NodeStatusFixture.NOW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.NodeAddress;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Upstream's TestNodeAddress_NoCloudProvider, and further rules. */
class NodeAddressSetterTest {

    private static final String HOST_NAME = "test-hostname";
    private static final String ANNOTATION = "alpha.kubernetes.io/provided-node-ip";

    private final NodeStatusFixture status = new NodeStatusFixture();
    private final FakeHost host = new FakeHost().withAddresses("10.1.1.1", "10.1.1.2", "fd01::1234");
    private List<InetAddress> named = List.of();
    private String hostName = HOST_NAME;

    private void set(String nodeIp) {
        new NodeAddressSetter(
                        hostName,
                        NodeIps.parse(nodeIp),
                        host,
                        name -> name.equals(NodeStatusFixture.NAME) ? named : List.of())
                .set(status.node, NOW);
    }

    private List<String> addresses() {
        return status.node.getStatus().getAddresses().stream()
                .map(address -> address.getType() + " " + address.getAddress())
                .toList();
    }

    @Test
    void set_oneIp_isInternalBesideTheHostName() {
        set("10.1.1.1");
        assertThat(addresses()).containsExactly("InternalIP 10.1.1.1", "Hostname test-hostname");
    }

    @Test
    void set_dualStack_bothAreInternal() {
        set("10.1.1.2,fd01::1234");
        assertThat(addresses())
                .containsExactly("InternalIP 10.1.1.2", "InternalIP fd01::1234", "Hostname test-hostname");
    }

    @Test
    void set_hostNameIsAnAddress_isThatAddress() {
        hostName = "10.9.9.9";
        set("");
        assertThat(addresses()).containsExactly("InternalIP 10.9.9.9", "Hostname 10.9.9.9");
    }

    /** Configured address, addresses of the node's name, addresses of the default routes, expected address. */
    @ParameterizedTest
    @CsvSource({
        "'', 127.0.0.1 fd01::1234 10.1.1.2 10.1.1.1, 10.1.1.1, 10.1.1.2",
        "'', fd01::1234, 10.1.1.1, fd01::1234",
        "::, 10.1.1.2 fd01::1234, 10.1.1.1, fd01::1234",
        "::, 10.1.1.2, 10.1.1.1, 10.1.1.2",
        "0.0.0.0, fd01::1234 10.1.1.2, 10.1.1.1, 10.1.1.2",
        "'', 127.0.0.1 192.0.2.99, 10.1.1.1 fd01::1234, 10.1.1.1",
        "::, 127.0.0.1, 10.1.1.1 fd01::1234, fd01::1234"
    })
    void set_noIp_takesTheNodesNameThenTheDefaultRoute(String nodeIp, String names, String routes, String expected) {
        named = FakeHost.ips(names.split(" "));
        host.defaultRoutes = FakeHost.ips(routes.split(" "));
        set(nodeIp);
        assertThat(addresses()).containsExactly("InternalIP " + expected, "Hostname test-hostname");
    }

    @Test
    void set_noAddressFound_throws() {
        assertThatThrownBy(() -> set(""))
                .hasMessageStartingWith("can't get ip address of node test-kubelet-node. error: ");
        assertThat(addresses()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "1.2.3.4, 'failed to validate nodeIP: node IP: \"1.2.3.4\" not found in the host''s network interfaces'",
        "'10.1.1.1,fd01::7', 'failed to validate secondaryNodeIP: node IP: \"fd01::7\" not found in the host''s network interfaces'"
    })
    void set_ipOfAnotherMachine_leavesTheAddressesAlone(String nodeIp, String message) {
        status.node.getStatus().getAddresses().add(new NodeAddress("10.0.0.7", "InternalIP"));
        assertThatThrownBy(() -> set(nodeIp)).hasMessage(message);
        assertThat(addresses()).containsExactly("InternalIP 10.0.0.7");
    }

    @Test
    void set_always_removesTheOldAnnotationAndKeepsOthers() {
        status.node.getMetadata().getAnnotations().put(ANNOTATION, "10.0.0.7");
        status.node.getMetadata().getAnnotations().put("other", "stays");
        set("10.1.1.1");
        assertThat(status.node.getMetadata().getAnnotations()).containsOnlyKeys("other");
    }
}
