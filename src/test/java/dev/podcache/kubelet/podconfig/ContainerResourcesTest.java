package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceFieldSelector;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** TestExtractContainerResourceValue of {@code pkg/api/v1/resource/helpers_test.go}, and the node's defaults. */
class ContainerResourcesTest {

    private static final Container BUSY = new ContainerBuilder()
            .withName("busy")
            .withNewResources()
            .addToRequests("cpu", new Quantity("10m"))
            .addToRequests("memory", new Quantity("10G"))
            .addToRequests("ephemeral-storage", new Quantity("1500"))
            .addToRequests("hugepages-2Mi", new Quantity("4Mi"))
            .addToLimits("cpu", new Quantity("1500m"))
            .addToLimits("memory", new Quantity("100Mi"))
            .addToLimits("ephemeral-storage", new Quantity("0"))
            .endResources()
            .build();
    private static final Pod POD = new PodBuilder()
            .withNewSpec()
            .addNewInitContainer()
            .withName("init")
            .withNewResources()
            .addToLimits("cpu", new Quantity("7"))
            .endResources()
            .endInitContainer()
            .withContainers(BUSY, new ContainerBuilder().withName("idle").build())
            .endSpec()
            .build();
    private static final PodPlacement PLACEMENT = new PodPlacement(
            ImmutableList.of(),
            ImmutableList.of(),
            ImmutableMap.of(
                    "cpu", new Quantity("3500m"),
                    "memory", new Quantity("8Gi"),
                    "ephemeral-storage", new Quantity("1Ti"),
                    "hugepages-2Mi", new Quantity("1Gi")));
    private static final ContainerResources RESOURCES =
            new ContainerResources(POD, PLACEMENT, ConfigTarget.container("main"));

    @ParameterizedTest
    @CsvSource({
        "busy, limits.cpu,                 ,    2",
        "busy, limits.cpu,                 1,   2",
        "busy, limits.cpu,                 0,   2",
        "busy, limits.cpu,                 1m,  1500",
        "busy, limits.cpu,                 100m, 15",
        "busy, requests.cpu,               1,   1",
        "busy, requests.cpu,               1m,  10",
        "busy, requests.memory,            1,   10000000000",
        "busy, requests.memory,            500M, 20",
        "busy, limits.memory,              1Mi, 100",
        "busy, limits.memory,              1Gi, 1",
        "busy, requests.ephemeral-storage, 1k,  2",
        "busy, requests.hugepages-2Mi,     1Mi, 4",
        "busy, limits.hugepages-2Mi,       1Mi, 0",
        "busy, limits.ephemeral-storage,   1Gi, 1024",
        "idle, limits.cpu,                 1m,  3500",
        "idle, limits.memory,              1Gi, 8",
        "idle, requests.cpu,               1m,  0",
        "init, limits.cpu,                 1,   7",
    })
    void value_ofANamedContainer(String container, String resource, @Nullable String divisor, String expected) {
        Quantity by = divisor == null ? null : new Quantity(divisor);

        assertThat(RESOURCES.value(new ResourceFieldSelector(container, by, resource), null))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "busy, limits.memory,            1Mi, 100", // its own
        "idle, limits.memory,            1Mi, 512",
        "idle, limits.cpu,               1m,  250",
        "idle, limits.hugepages-2Mi,     1,   0",
        "idle, limits.ephemeral-storage, 1Gi, 1024", // the node's: a pod as a whole has none
        "idle, requests.memory,          1,   0",
    })
    void value_missingLimit_isThatOfThePod(String container, String resource, String divisor, String expected) {
        Pod limited = new PodBuilder(POD)
                .editSpec()
                .withNewResources()
                .addToRequests("memory", new Quantity("256Mi"))
                .addToLimits("memory", new Quantity("512Mi"))
                .addToLimits("cpu", new Quantity("250m"))
                .addToLimits("hugepages-2Mi", new Quantity("4Mi"))
                .addToLimits("ephemeral-storage", new Quantity("1Gi"))
                .endResources()
                .endSpec()
                .build();
        ContainerResources resources = new ContainerResources(limited, PLACEMENT, ConfigTarget.container("main"));

        assertThat(resources.value(new ResourceFieldSelector(container, new Quantity(divisor), resource), null))
                .isEqualTo(expected);
    }

    @Test
    void value_missingLimitOnAnUnknownNode_fails() {
        PodPlacement nowhere = new PodPlacement(ImmutableList.of(), ImmutableList.of(), ImmutableMap.of());
        ContainerResources resources = new ContainerResources(POD, nowhere, ConfigTarget.container("main"));

        assertThat(resources.value(new ResourceFieldSelector("busy", null, "limits.cpu"), null))
                .isEqualTo("2");
        assertThat(resources.value(new ResourceFieldSelector("idle", null, "requests.cpu"), null))
                .isEqualTo("0");
        assertThatThrownBy(() -> resources.value(new ResourceFieldSelector("idle", null, "limits.cpu"), null))
                .isInstanceOf(PodConfigException.class)
                .hasMessage("the allocatable resources of the node are not known yet");
    }

    @Test
    @Timeout(60)
    void value_exponentOfAMilliard_isTheMostThereIs() {
        Container greedy = new ContainerBuilder()
                .withNewResources()
                .addToLimits("memory", new Quantity("1e999999999"))
                .endResources()
                .build();

        assertThat(RESOURCES.value(
                        new ResourceFieldSelector("", new Quantity("1e-999999999"), "limits.memory"), greedy))
                .isEqualTo("9223372036854775807");
    }

    @Test
    void value_withoutName_isOfTheContainerThatAsks() {
        assertThat(RESOURCES.value(new ResourceFieldSelector("", null, "limits.memory"), BUSY))
                .isEqualTo("104857600");
    }

    @Test
    void value_unknownContainer_fails() {
        assertThatThrownBy(() -> RESOURCES.value(new ResourceFieldSelector("none", null, "limits.cpu"), BUSY))
                .hasMessage("container none not found");
    }

    @ParameterizedTest
    @CsvSource({"limits.gpu", "cpu", "usage.cpu", "''"})
    void value_unknownResource_fails(String resource) {
        assertThatThrownBy(() -> RESOURCES.value(new ResourceFieldSelector("busy", null, resource), null))
                .hasMessage("unsupported container resource : " + resource);
    }
}
