package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodeLabelsTest {

    @Test
    void parse_severalLabels_areAllThere() {
        assertThat(NodeLabels.parse("zone=a, example.com/disk = ssd ,flag,empty="))
                .isEqualTo(Map.of("zone", "a", "example.com/disk", "ssd", "flag", "", "empty", ""));
    }

    @Test
    void parse_nothing_isNone() {
        assertThat(NodeLabels.parse("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kubernetes.io/hostname",
                "kubernetes.io/os",
                "kubernetes.io/arch",
                "beta.kubernetes.io/os",
                "beta.kubernetes.io/arch",
                "topology.kubernetes.io/zone",
                "topology.kubernetes.io/region",
                "failure-domain.beta.kubernetes.io/zone",
                "failure-domain.beta.kubernetes.io/region",
                "node.kubernetes.io/instance-type",
                "beta.kubernetes.io/instance-type",
                "node.kubernetes.io/anything",
                "kubelet.kubernetes.io/anything",
                "sub.node.kubernetes.io/anything",
                "mykubernetes.io/x"
            })
    void parse_labelThatANodeMayHave_isTaken(String key) {
        assertThat(NodeLabels.parse(key + "=x")).containsEntry(key, "x");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kubernetes.io/role",
                "node-role.kubernetes.io/control-plane",
                "node-restriction.kubernetes.io/secure",
                "x.k8s.io/y",
                "k8s.io/y",
                "topology.kubernetes.io/rack"
            })
    void parse_labelThatANodeMayNotHave_isRefusedWithWhatIsAllowed(String key) {
        assertThatThrownBy(() -> NodeLabels.parse("a=b," + key + "=x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[" + key + "]")
                .hasMessageContaining("[kubelet.kubernetes.io, node.kubernetes.io]")
                .hasMessageContaining("topology.kubernetes.io/zone")
                .hasMessageContaining("kubectl label node");
    }

    @ParameterizedTest
    @CsvSource({
        "-a=b, label key \"-a\" is not legal",
        "=b, label key \"\" is not legal",
        "a/b/c=d, label key \"a/b/c\" is not legal",
        "/c=d, label key \"/c\" is not legal",
        "Upper.io/c=d, label key \"Upper.io/c\" is not legal",
        "a=b c, value of label a \"b c\" is not legal",
        "a=b=c, value of label a \"b=c\" is not legal",
        "a=-, value of label a \"-\" is not legal"
    })
    void parse_illegalKeyOrValue_isRefusedByName(String flag, String message) {
        assertThatThrownBy(() -> NodeLabels.parse(flag))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("letters");
    }

    @Test
    void parse_longKeyOrValue_isBounded() {
        String longest = "a".repeat(63);
        assertThat(NodeLabels.parse(longest + "=" + longest)).hasSize(1);
        assertThatThrownBy(() -> NodeLabels.parse(longest + "a=b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> NodeLabels.parse("b=" + longest + "a")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void parse_longPrefix_isBounded() {
        String longest = "a".repeat(253);
        assertThat(NodeLabels.parse(longest + "/b=c")).hasSize(1);
        assertThatThrownBy(() -> NodeLabels.parse(longest + "a/b=c")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void parse_illegalKey_isQuotedUpToEightyCharacters() {
        String illegal = "-".repeat(80);
        assertThatThrownBy(() -> NodeLabels.parse(illegal + "=b")).hasMessageContaining("\"" + illegal + "\"");
        assertThatThrownBy(() -> NodeLabels.parse(illegal + "-=b")).hasMessageContaining("\"" + illegal + "...\"");
    }

    @Test
    void parse_keyTwice_isRefused() {
        assertThatThrownBy(() -> NodeLabels.parse("a=1,a=2"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"a\" occurs twice");
    }
}
