package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeReservationsTest {

    private static Map<String, String> map(String text) {
        return Splitter.on(' ').omitEmptyStrings().withKeyValueSeparator('=').split(text);
    }

    private static ImmutableMap<String, Quantity> quantities(String text) {
        ImmutableMap.Builder<String, Quantity> parsed = ImmutableMap.builder();
        map(text).forEach((resource, amount) -> parsed.put(resource, Quantity.parse(amount)));
        return parsed.buildOrThrow();
    }

    private static NodeReservations reservations(String kube, String system, String evictionHard) {
        return NodeReservations.none()
                .withSystemReserved(map(system))
                .withKubeReserved(map(kube))
                .withHardEviction(EvictionThresholds.parse(map(evictionHard)));
    }

    /** Upstream's TestNodeAllocatableReservationForScheduling: kube, system, hard eviction, capacity. */
    @ParameterizedTest
    @CsvSource({
        "cpu=100m memory=100Mi, cpu=50m memory=50Mi, '', cpu=10 memory=10Gi, cpu=150m memory=150Mi",
        "cpu=100m memory=100Mi, cpu=50m memory=50Mi, memory.available=100Mi, cpu=10 memory=10Gi, cpu=150m memory=250Mi",
        "cpu=100m memory=100Mi, cpu=50m memory=50Mi, memory.available=5%, cpu=10 memory=10Gi, cpu=150m memory=694157320",
        "'', '', '', '', ''",
        "ephemeral-storage=100Mi, '', '', ephemeral-storage=10Gi, ephemeral-storage=100Mi",
        "ephemeral-storage=50Mi, ephemeral-storage=50Mi, nodefs.available=100Mi, ephemeral-storage=10Gi, ephemeral-storage=200Mi",
        "ephemeral-storage=150Mi, '', nodefs.available=5%, ephemeral-storage=10Gi, ephemeral-storage=694157320"
    })
    void of_capacity_isTheSumOfBothAndOfHardEviction(
            String kube, String system, String evictionHard, String capacity, String expected) {
        assertThat(reservations(kube, system, evictionHard).of(quantities(capacity)))
                .isEqualTo(quantities(expected));
    }

    @Test
    void of_otherSignals_reserveNothing() {
        NodeReservations reservations =
                reservations("", "", "imagefs.available=50% nodefs.inodesFree=50% pid.available=5");
        assertThat(reservations.of(quantities("cpu=1 memory=1Gi ephemeral-storage=1Gi pods=110")))
                .isEmpty();
    }

    @Test
    void of_resourceThatTheNodeLacks_isLeftOut() {
        assertThat(reservations("pid=100", "", "").of(quantities("cpu=1"))).isEmpty();
    }

    @Test
    void of_reservationOfZero_isLeftOut() {
        assertThat(reservations("cpu=0", "", "").of(quantities("cpu=1"))).isEmpty();
    }

    @Test
    void none_always_keepsTheDefaultReserve() {
        assertThat(NodeReservations.none().of(quantities("cpu=1 memory=1Gi ephemeral-storage=1000")))
                .isEqualTo(quantities("memory=100Mi ephemeral-storage=100"));
    }

    @Test
    void validate_moreThanThereIs_namesEachWithItsNumbers() {
        NodeReservations reservations = reservations("cpu=4", "memory=3Gi", "memory.available=2Gi");
        assertThatThrownBy(() -> reservations.validate(quantities("cpu=2 memory=4Gi")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("invalid Node Allocatable configuration. "
                        + "resource \"cpu\" has a reservation of 4 but capacity of 2. Expected capacity >= reservation. "
                        + "resource \"memory\" has a reservation of 5Gi but capacity of 4Gi. Expected capacity >= reservation. "
                        + "Lower systemReserved, kubeReserved or the threshold in evictionHard");
    }

    @Test
    void validate_allThatThereIs_isAllowed() {
        assertThatNoException()
                .isThrownBy(() -> reservations("cpu=1", "cpu=1", "").validate(quantities("cpu=2")));
    }

    @ParameterizedTest
    @CsvSource({
        "pods=5, 'resource \"pods\" cannot be reserved; use one of cpu, memory, ephemeral-storage, pid'",
        "cpu=-1, 'reservation of cpu must not be negative, but is -1'",
        "memory=1GB, '\"1GB\" is not a quantity for memory: write a number with an optional suffix, such as 500m, 2, 100Mi or 10Gi'",
        "memory=1e9999, '\"1e9999\" is not a quantity for memory: write a number with an optional suffix, such as 500m, 2, 100Mi or 10Gi'"
    })
    void withReserved_invalid_isRefusedWithTheValueAndTheRule(String reserved, String message) {
        assertThatThrownBy(() -> NodeReservations.none().withKubeReserved(map(reserved)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
        assertThatThrownBy(() -> NodeReservations.none().withSystemReserved(map(reserved)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
