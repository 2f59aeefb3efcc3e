package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.Nodes.condition;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** TestNodeStatusHasChanged of the kubelet, and cases that upstream's equality library covers. */
class NodeStatusChangeTest {

    private static final Instant T = Instant.parse("2026-01-01T00:00:00Z");
    private static final NodeCondition READY = condition("Ready", "True", T, T);
    private static final NodeCondition READY_LATER = condition("Ready", "True", T.plusSeconds(1), T);
    private static final NodeCondition READY_FALSE = condition("Ready", "False", T, T);
    private static final NodeCondition READY_SINCE = condition("Ready", "True", T, T.plusSeconds(1));
    private static final NodeCondition DISK = condition("DiskPressure", "False", T, T);
    private static final NodeCondition DISK_LATER = condition("DiskPressure", "False", T.plusSeconds(1), T);

    @ParameterizedTest
    @MethodSource("table")
    void between_twoStatuses_findsChanges(@Nullable NodeStatus before, @Nullable NodeStatus after, boolean expected) {
        ObjectNode treeBefore = before == null ? null : NodeJson.tree(before);
        ObjectNode treeAfter = after == null ? null : NodeJson.tree(after);

        assertThat(NodeStatusChange.between(before, after)).isEqualTo(expected);
        assertThat(NodeStatusChange.between(after, before)).isEqualTo(expected);

        assertThat(before == null ? null : NodeJson.tree(before)).isEqualTo(treeBefore);
        assertThat(after == null ? null : NodeJson.tree(after)).isEqualTo(treeAfter);
    }

    static Arguments[] table() {
        return new Arguments[] {
            row("both absent", null, null, false),
            row("both empty", status(), status(), false),
            row("absent and empty", null, status(), true),
            row("absent and with conditions", null, status(READY, DISK), true),
            row("empty and with conditions", status(), status(READY, DISK), true),
            row("identical", status(READY, DISK), status(READY, DISK), false),
            row("another heartbeat", status(READY, DISK), status(READY_LATER, DISK_LATER), false),
            row("another order", status(READY, DISK), status(DISK, READY), false),
            row("another order and heartbeat", status(READY, DISK), status(DISK_LATER, READY_LATER), false),
            row("another status of a condition", status(READY, DISK), status(READY_FALSE, DISK), true),
            row("another transition time", status(READY, DISK), status(READY_SINCE, DISK), true),
            row("one condition more", status(READY), status(READY, DISK), true),
            row("another condition", status(READY), status(DISK), true),
            row("another phase", inPhase("Running"), inPhase("Pending"), true)
        };
    }

    @Test
    void between_absentAndEmptyLists_isNoChange() {
        NodeStatus absent = new NodeStatus();
        absent.setConditions(null);
        absent.setImages(null);
        absent.setCapacity(null);

        assertThat(NodeStatusChange.between(absent, new NodeStatus())).isFalse();
    }

    @Test
    void between_quantitiesWrittenDifferently_isNoChange() {
        assertThat(NodeStatusChange.between(withCpu("2"), withCpu("2000m"))).isFalse();
        assertThat(NodeStatusChange.between(withCpu("2"), withCpu("2001m"))).isTrue();
    }

    @Test
    void between_allocatableOnly_isAChange() {
        NodeStatus more = new NodeStatusBuilder()
                .withAllocatable(Nodes.quantities("cpu", "1"))
                .build();

        assertThat(NodeStatusChange.between(new NodeStatus(), more)).isTrue();
    }

    @Test
    void between_oneInstantWrittenDifferently_isNoChange() {
        NodeCondition local = condition("Ready", "True", T, T);
        local.setLastTransitionTime("2026-01-01T01:00:00+01:00");

        assertThat(NodeStatusChange.between(status(READY), status(local))).isFalse();
    }

    @Test
    @SuppressWarnings("NullAway") // a condition may have no time
    void between_timeAndNull_isAChange() {
        NodeCondition timeless = condition("Ready", "True", T, T);
        timeless.setLastTransitionTime(null);

        assertThat(NodeStatusChange.between(status(READY), status(timeless))).isTrue();
        assertThat(NodeStatusChange.between(status(timeless), status(READY))).isTrue();
    }

    @Test
    void between_timeAndInvalidTime_isAChange() {
        NodeCondition odd = condition("Ready", "True", T, T);
        odd.setLastTransitionTime("yesterday");

        assertThat(NodeStatusChange.between(status(READY), status(odd))).isTrue();
    }

    private static Arguments row(
            String name, @Nullable NodeStatus before, @Nullable NodeStatus after, boolean expected) {
        return Arguments.of(Named.of(name, before), after, expected);
    }

    private static NodeStatus status(NodeCondition... conditions) {
        return new NodeStatusBuilder().withConditions(conditions).build();
    }

    private static NodeStatus inPhase(String phase) {
        return new NodeStatusBuilder(status(READY)).withPhase(phase).build();
    }

    private static NodeStatus withCpu(String quantity) {
        return new NodeStatusBuilder()
                .withCapacity(Nodes.quantities("cpu", quantity))
                .build();
    }
}
