package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.junit.jupiter.api.Test;

class PodPlacementTest {

    @Test
    void podIps_hostPrefersSix_areSixFirst() {
        PodPlacement placement = new PodPlacement(
                ImmutableList.of("10.0.0.1", "10.0.0.2", "fd00::6"), ImmutableList.of("::1"), ImmutableMap.of());

        assertThat(placement.podIps()).containsExactly("fd00::6", "10.0.0.1");
    }

    @Test
    void podIps_hostUnknown_areFourFirst() {
        assertThat(new PodPlacement(ImmutableList.of("fd00::6", "10.0.0.1"), ImmutableList.of(), ImmutableMap.of())
                        .podIps())
                .containsExactly("10.0.0.1", "fd00::6");
    }

    @Test
    void on_nodeWithAllKindsOfAddresses_takesInternalOnesFirst() {
        Node node = new NodeBuilder()
                .withNewStatus()
                .withAddresses(
                        new NodeAddress("203.0.113.1", "ExternalIP"),
                        new NodeAddress("worker-1", "Hostname"),
                        new NodeAddress("10.0.0.1", "InternalIP"),
                        new NodeAddress("10.0.0.2", "InternalIP"),
                        new NodeAddress("fd00::1", "ExternalIP"))
                .addToAllocatable("cpu", new Quantity("4"))
                .endStatus()
                .build();

        PodPlacement placement = PodPlacement.on(node, List.of("10.1.0.5"));

        assertThat(placement.hostIps()).containsExactly("10.0.0.1", "fd00::1");
        assertThat(placement.podIps()).containsExactly("10.1.0.5");
        assertThat(placement.allocatable()).containsEntry("cpu", new Quantity("4"));
    }

    @Test
    void on_nodeWithoutStatus_knowsNothing() {
        assertThat(PodPlacement.on(new Node(), List.of()))
                .isEqualTo(new PodPlacement(ImmutableList.of(), ImmutableList.of(), ImmutableMap.of()));
    }
}
