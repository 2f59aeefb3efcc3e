package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Quantity;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the builder refuses, and how it says so. */
class NodeAgentBuilderTest {

    private final NodeAgentBuilder builder = new NodeAgentBuilder(options -> {
        throw new AssertionError("not reached");
    });

    @Test
    void build_noNode_isRefusedWithTheRemedy() {
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("node(\"edge-1\")");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Worker_1"})
    void node_illegalName_isRefusedAsTheNameOfTheNode(String name) {
        assertThatThrownBy(() -> builder.node(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("node name \"" + name + "\" is not a legal Kubernetes name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Corp_1", "corp..example", ".local"})
    void clusterDomain_noDnsName_isRefused(String domain) {
        assertThatThrownBy(() -> builder.clusterDomain(domain))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("clusterDomain \"" + domain + "\" is no DNS name");
    }

    @Test
    void addresses_twoOfOneFamily_areRefused() throws UnknownHostException {
        InetAddress one = InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
        InetAddress two = InetAddress.getByAddress(new byte[] {10, 0, 0, 2});

        assertThatThrownBy(() -> builder.addresses(List.of(one, two)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("10.0.0.1,10.0.0.2");
    }

    @ParameterizedTest
    @CsvSource({"PT0.5S, 500ms", "PT-5M, -5m0s"})
    void leaseDuration_shorterThanASecond_isRefused(Duration value, String shown) {
        assertThatThrownBy(() -> builder.leaseDuration(value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the lease duration must be at least 1s, but is " + shown);
    }

    @ParameterizedTest
    @CsvSource({"PT0.999S, 999ms", "PT5M0.001S, 5m0.001s", "PT-1S, -1s"})
    void maxContainerRestartPeriod_outOfRange_isRefusedByName(Duration value, String shown) {
        assertThatThrownBy(() -> builder.maxContainerRestartPeriod(value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxContainerRestartPeriod must be from 1s to 5m0s, but is " + shown);
    }

    @ParameterizedTest
    @ValueSource(strings = {"abc", "-2"})
    void capacity_noQuantityOrNegative_isRefusedByName(String amount) {
        assertThatThrownBy(() -> builder.capacity(Map.of("cpu", new Quantity(amount))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("capacity: cpu must be a quantity")
                .hasMessageContaining("\"" + amount + "\"");
    }

    static Stream<Named<Method>> settersOfOneObject() {
        return Stream.of(NodeAgentBuilder.class, HollowTemplate.class)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> Modifier.isPublic(method.getModifiers()))
                .filter(method -> method.getParameterCount() == 1 && !method.getParameterTypes()[0].isPrimitive())
                .map(method -> Named.of(method.toString(), method));
    }

    @ParameterizedTest
    @MethodSource("settersOfOneObject")
    void setter_null_isRefusedByTheNameOfTheParameter(Method setter) {
        Object target = setter.getDeclaringClass() == NodeAgentBuilder.class ? builder : new HollowTemplate();

        assertThatThrownBy(() -> setter.invoke(target, new Object[1]))
                .cause()
                .isInstanceOf(NullPointerException.class)
                .message()
                .isNotBlank()
                .doesNotStartWith("Cannot ");
    }
}
