package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableList;
import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.host.HostFacts;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Upstream's tables of ParseNodeIPArgument, except that text that is not an address, or one that no other machine can reach, is refused;
 * TestValidateNodeIPParam.
 */
class NodeIpsTest {

    @ParameterizedTest
    @CsvSource({
        "'', ''",
        "1.2.3.4, 1.2.3.4",
        "' 1.2.3.4 ', 1.2.3.4",
        "'1.2.3.4,fd00::1', 1.2.3.4 fd00::1",
        "'fd00::1 , 1.2.3.4', fd00::1 1.2.3.4",
        "0.0.0.0, 0.0.0.0",
        "::, ::",
        "::ffff:1.2.3.4, 1.2.3.4"
    })
    void parse_valid_keepsTheOrder(String text, String expected) {
        assertThat(NodeIps.parse(text).addresses().stream()
                        .map(InetAddresses::toAddrString)
                        .toList())
                .isEqualTo(expected.isEmpty() ? ImmutableList.of() : ImmutableList.copyOf(expected.split(" ")));
    }

    @ParameterizedTest
    @CsvSource({
        "'1.2.3.4,5.6.7.8', has two addresses of one family",
        "'fd00::1,fd00::2', has two addresses of one family",
        "'1.2.3.4,fd00::1,5.6.7.8', has more than two addresses",
        "'0.0.0.0,::', has two addresses of which one is unspecified",
        "'1.2.3.4,::', has two addresses of which one is unspecified",
        "'nonsense,1.2.3.4', 'has \"nonsense\", which is not an address'",
        "'1.2.3', 'has \"1.2.3\", which is not an address'",
        "'127.0.0.1', 'has 127.0.0.1, which no other machine can reach: nodeIP can''t be loopback address'",
        "'10.0.0.1,::1', 'has ::1, which no other machine can reach: nodeIP can''t be loopback address'",
        "'224.0.0.1', 'has 224.0.0.1, which no other machine can reach: nodeIP can''t be a multicast address'",
        "'fe80::1', 'has fe80::1, which no other machine can reach: nodeIP can''t be a link-local unicast address'"
    })
    void parse_impossible_isRefusedWithTheRemedy(String text, String why) {
        assertThatThrownBy(() -> NodeIps.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("node IP \"" + text + "\" " + why + ": give one, or one IPv4 and one IPv6 address");
    }

    @Test
    void configured_familyAlone_isNone() {
        assertThat(NodeIps.parse("0.0.0.0").configured()).isEmpty();
        assertThat(NodeIps.parse("1.2.3.4").configured()).containsExactly(InetAddresses.forString("1.2.3.4"));
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, nodeIP can't be loopback address",
        "::1, nodeIP can't be loopback address",
        "224.0.0.1, nodeIP can't be a multicast address",
        "ff00::1, nodeIP can't be a multicast address",
        "169.254.0.1, nodeIP can't be a link-local unicast address",
        "fe80::0202:b3ff:fe1e:8329, nodeIP can't be a link-local unicast address",
        "0.0.0.0, nodeIP can't be an all zeros address",
        "::, nodeIP can't be an all zeros address",
        "1.2.3.4, 'node IP: \"1.2.3.4\" not found in the host''s network interfaces'",
        "10.0.0.1, ",
        "2001:db8::7, "
    })
    void objection_address_isEmptyOnlyIfOthersCanReachIt(String address, String expected) {
        FakeHost host = new FakeHost().withAddresses("127.0.0.1", "10.0.0.1", "2001:db8::7");
        assertThat(new NodeIpValidator(host).objection(InetAddresses.forString(address)))
                .isEqualTo(Optional.ofNullable(expected));
    }

    @Test
    void objection_defaultRouteAddressesOfThisMachine_ifAny_isNone() {
        HostFacts facts = HostFacts.ofThisMachine(Path.of("/"));
        NodeIpValidator validator = new NodeIpValidator(facts);
        assertThat(facts.defaultRouteAddresses())
                .allSatisfy(address -> assertThat(validator.objection(address)).isEmpty());
    }
}
