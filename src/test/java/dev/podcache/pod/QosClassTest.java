package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The rows of upstream's TestComputePodQOS, with its gate PodLevelResources on. */
class QosClassTest {

    private static final Container FULL = container("cpu=100m memory=100Mi", "cpu=100m memory=100Mi");
    private static final Container SOME = container("cpu=100m memory=100Mi", "cpu=200m memory=200Mi");
    private static final Container NONE = container("", "");

    /** What one container requests and its limits. */
    static Stream<Arguments> resources() {
        return Stream.of(
                Arguments.of("guaranteed", "Guaranteed", FULL),
                Arguments.of("other units", "Guaranteed", container("cpu=0.1 memory=1Gi", "cpu=100m memory=1024Mi")),
                Arguments.of(
                        "a storage request",
                        "Guaranteed",
                        container("cpu=1 memory=1Gi ephemeral-storage=1Gi", "cpu=1 memory=1Gi")),
                Arguments.of("nothing", "BestEffort", NONE),
                Arguments.of("zeros", "BestEffort", container("cpu=0 memory=0", "cpu=0 memory=0")),
                Arguments.of("zeros requested", "BestEffort", container("cpu=0 memory=0", "")),
                Arguments.of("only storage", "BestEffort", container("ephemeral-storage=10Gi", "")),
                Arguments.of("only a GPU", "BestEffort", container("nvidia-gpu=2", "nvidia-gpu=2")),
                Arguments.of(
                        "only huge pages",
                        "BestEffort",
                        container("hugepages-2Mi=1Gi cpu=0 memory=0", "hugepages-2Mi=1Gi cpu=0 memory=0")),
                Arguments.of("only memory", "Burstable", container("memory=100Mi", "memory=100Mi")),
                Arguments.of("only cpu", "Burstable", container("cpu=1", "cpu=1")),
                Arguments.of("zeros with limits", "Burstable", container("cpu=0 memory=0", "cpu=100m memory=200Mi")),
                Arguments.of("no limits", "Burstable", container("cpu=100m memory=100Mi", "")),
                Arguments.of("no requests", "Burstable", container("", "cpu=1 memory=1Gi")),
                Arguments.of("no limit of memory", "Burstable", container("cpu=100m memory=100Mi", "cpu=100m")),
                Arguments.of("limits above", "Burstable", SOME),
                Arguments.of("a cpu limit above", "Burstable", container("cpu=1 memory=1Gi", "cpu=2 memory=1Gi")),
                Arguments.of("a memory limit above", "Burstable", container("cpu=1 memory=1Gi", "cpu=1 memory=2Gi")));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("resources")
    void of_oneContainer(String situation, String expected, Container container) {
        assertThat(QosClass.of(spec(container))).isEqualTo(expected);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("resources")
    void of_resourcesOfTheWholePod_countInsteadOfItsContainers(String situation, String expected, Container resources) {
        for (Container container : List.of(FULL, SOME, NONE)) {
            PodSpec spec = spec(container, NONE);
            spec.setResources(resources.getResources());
            assertThat(QosClass.of(spec)).isEqualTo(expected);
        }
    }

    static Stream<Arguments> pairs() {
        Container many = container("cpu=1e999999999 memory=1", "cpu=1e999999999 memory=1");
        return Stream.of(
                Arguments.of(FULL, FULL, "Guaranteed"),
                Arguments.of(many, FULL, "Guaranteed"),
                Arguments.of(many, many, "Guaranteed"),
                Arguments.of(NONE, NONE, "BestEffort"),
                Arguments.of(NONE, container("cpu=0 memory=0", ""), "BestEffort"),
                Arguments.of(SOME, SOME, "Burstable"),
                Arguments.of(FULL, NONE, "Burstable"),
                Arguments.of(NONE, FULL, "Burstable"),
                Arguments.of(FULL, SOME, "Burstable"),
                Arguments.of(SOME, FULL, "Burstable"),
                Arguments.of(NONE, SOME, "Burstable"),
                Arguments.of(SOME, NONE, "Burstable"),
                Arguments.of(NONE, container("cpu=1", "cpu=2"), "Burstable"),
                Arguments.of(container("cpu=1 memory=100Mi", "cpu=2 memory=100Mi"), FULL, "Burstable"),
                // together, they request as much as their limits
                Arguments.of(SOME, container("cpu=100m memory=100Mi", ""), "Burstable"),
                Arguments.of(container("cpu=1", "cpu=1"), container("memory=1", "memory=1"), "Burstable"));
    }

    @Timeout(60)
    @ParameterizedTest
    @MethodSource("pairs")
    void of_twoContainers_isTheSameIfOneIsAnInitContainer(Container first, Container second, String expected) {
        PodSpec withInit = new PodSpecBuilder()
                .withContainers(first)
                .withInitContainers(second)
                .build();

        assertThat(QosClass.of(spec(first, second))).isEqualTo(expected);
        assertThat(QosClass.of(withInit)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"Burstable, Burstable", "'', Guaranteed", ", Guaranteed"})
    void of_podWithAStatus_isTheClassThatTheApiServerSet(String inStatus, String expected) {
        PodBuilder pod = new PodBuilder().withSpec(spec(FULL));

        assertThat(QosClass.of(
                        pod.withNewStatus().withQosClass(inStatus).endStatus().build()))
                .isEqualTo(expected);
        assertThat(QosClass.of(pod.withStatus(null).build())).isEqualTo("Guaranteed");
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
