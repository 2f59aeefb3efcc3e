package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rows of upstream's TestComputePodQOS. */
class QosClassTest {

    private static final Container FULL = container("cpu=100m memory=100Mi", "cpu=100m memory=100Mi");
    private static final Container NONE = container("", "");

    static Stream<Arguments> of() {
        return Stream.of(
                Arguments.of("guaranteed", "Guaranteed", spec(FULL)),
                Arguments.of("guaranteed, two", "Guaranteed", spec(FULL, FULL)),
                Arguments.of(
                        "other units", "Guaranteed", spec(container("cpu=0.1 memory=1Gi", "cpu=100m memory=1024Mi"))),
                Arguments.of(
                        "a storage request",
                        "Guaranteed",
                        spec(container("cpu=1 memory=1Gi ephemeral-storage=1Gi", "cpu=1 memory=1Gi"))),
                Arguments.of(
                        "a number of a milliard digits, twice",
                        "Guaranteed",
                        spec(container("cpu=1e999999999 memory=1", "cpu=1e999999999 memory=1"), FULL)),
                Arguments.of("nothing", "BestEffort", spec(NONE)),
                Arguments.of("nothing, two", "BestEffort", spec(NONE, NONE)),
                Arguments.of("zeros", "BestEffort", spec(container("cpu=0 memory=0", "cpu=0 memory=0"))),
                Arguments.of("only a GPU", "BestEffort", spec(container("nvidia-gpu=2", "nvidia-gpu=2"))),
                Arguments.of(
                        "only huge pages", "BestEffort", spec(container("hugepages-2Mi=4Mi", "hugepages-2Mi=4Mi"))),
                Arguments.of("only memory", "Burstable", spec(container("memory=100Mi", "memory=100Mi"))),
                Arguments.of(
                        "limits above in one of two",
                        "Burstable",
                        spec(container("cpu=1 memory=100Mi", "cpu=2 memory=100Mi"), FULL)),
                Arguments.of("unbounded beside a full one", "Burstable", spec(container("cpu=1 memory=1Gi", ""), FULL)),
                Arguments.of("zeros with limits", "Burstable", spec(container("cpu=0 memory=0", "cpu=1 memory=1Gi"))),
                Arguments.of("one without", "Burstable", spec(NONE, FULL)),
                Arguments.of("no limits", "Burstable", spec(container("cpu=1 memory=1Gi", ""))),
                Arguments.of("no requests", "Burstable", spec(container("", "cpu=1 memory=1Gi"))),
                Arguments.of("only cpu", "Burstable", spec(container("cpu=1", "cpu=1"))),
                Arguments.of("limits above", "Burstable", spec(container("cpu=1 memory=1Gi", "cpu=2 memory=1Gi"))),
                Arguments.of(
                        "halves in two",
                        "Burstable",
                        spec(container("cpu=1", "cpu=1"), container("memory=1", "memory=1"))));
    }

    @Timeout(20)
    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    void of(String situation, String expected, PodSpec spec) {
        assertThat(QosClass.of(spec)).isEqualTo(expected);
    }

    static Stream<Arguments> of_initContainers() {
        Container some = container("cpu=1 memory=1Gi", "cpu=2 memory=2Gi");
        return Stream.of(
                Arguments.of(FULL, FULL, "Guaranteed"),
                Arguments.of(FULL, NONE, "Burstable"),
                Arguments.of(NONE, some, "Burstable"));
    }

    @ParameterizedTest
    @MethodSource
    void of_initContainers(Container app, Container init, String expected) {
        PodSpec spec = new PodSpecBuilder()
                .withContainers(app)
                .withInitContainers(init)
                .build();

        assertThat(QosClass.of(spec)).isEqualTo(expected);
    }

    private static PodSpec spec(Container... containers) {
        return new PodSpecBuilder().withContainers(containers).build();
    }

    private static Container container(String requests, String limits) {
        return new ContainerBuilder()
                .withName("main")
                .withNewResources()
                .withRequests(quantities(requests))
                .withLimits(quantities(limits))
                .endResources()
                .build();
    }

    private static Map<String, Quantity> quantities(String text) {
        Map<String, Quantity> quantities = new HashMap<>();
        if (!text.isEmpty()) {
            for (String entry : text.split(" ", -1)) {
                int equals = entry.indexOf('=');
                quantities.put(entry.substring(0, equals), Quantity.parse(entry.substring(equals + 1)));
            }
        }
        return quantities;
    }
}
