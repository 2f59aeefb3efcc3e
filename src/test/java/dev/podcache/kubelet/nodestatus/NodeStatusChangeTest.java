package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.Nodes.condition;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ModelJson;
import dev.podcache.testing.FullModels;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Stream;
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
        ObjectNode treeBefore = before == null ? null : ModelJson.tree(before);
        ObjectNode treeAfter = after == null ? null : ModelJson.tree(after);

        assertThat(NodeStatusDifference.hasChanged(before, after)).isEqualTo(expected);
        assertThat(NodeStatusDifference.hasChanged(after, before)).isEqualTo(expected);

        assertThat(before == null ? null : ModelJson.tree(before)).isEqualTo(treeBefore);
        assertThat(after == null ? null : ModelJson.tree(after)).isEqualTo(treeAfter);
    }

    static Stream<String> fields() {
        return FullModels.of(NodeStatus.class).properties().stream().map(Map.Entry::getKey);
    }

    /** Also a field that only a later version of the model has, once the tests are compiled with that. */
    @ParameterizedTest
    @MethodSource("fields")
    void between_eachFieldOfTheModel_isCompared_andIsInThePatch(String field) {
        ObjectNode full = FullModels.of(NodeStatus.class);
        Node with = new NodeBuilder()
                .withStatus(ModelJson.model(full, NodeStatus.class))
                .build();
        full.remove(field);
        Node without = new NodeBuilder()
                .withStatus(ModelJson.model(full, NodeStatus.class))
                .build();

        assertThat(NodeStatusDifference.hasChanged(with.getStatus(), without.getStatus()))
                .isTrue();
        assertThat(NodeStatusDifference.patch(without, with)).contains("\"" + field + "\"");
        assertThat(NodeStatusDifference.patch(with, with)).isEqualTo("{}");
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

        assertThat(NodeStatusDifference.hasChanged(absent, new NodeStatus())).isFalse();
    }

    @Test
    void between_quantitiesWrittenDifferently_isNoChange() {
        assertThat(NodeStatusDifference.hasChanged(withCpu("2"), withCpu("2000m")))
                .isFalse();
        assertThat(NodeStatusDifference.hasChanged(withCpu("2"), withCpu("2001m")))
                .isTrue();
    }

    @Test
    void between_allocatableOnly_isAChange() {
        NodeStatus more = new NodeStatusBuilder()
                .withAllocatable(Nodes.quantities("cpu", "1"))
                .build();

        assertThat(NodeStatusDifference.hasChanged(new NodeStatus(), more)).isTrue();
    }

    @Test
    void between_oneInstantWrittenDifferently_isNoChange() {
        NodeCondition local = condition("Ready", "True", T, T);
        local.setLastTransitionTime("2026-01-01T01:00:00+01:00");

        assertThat(NodeStatusDifference.hasChanged(status(READY), status(local)))
                .isFalse();
    }

    @Test
    @SuppressWarnings("NullAway") // a condition may have no time
    void between_timeAndNull_isAChange() {
        NodeCondition timeless = condition("Ready", "True", T, T);
        timeless.setLastTransitionTime(null);

        assertThat(NodeStatusDifference.hasChanged(status(READY), status(timeless)))
                .isTrue();
        assertThat(NodeStatusDifference.hasChanged(status(timeless), status(READY)))
                .isTrue();
    }

    @Test
    void between_timeAndInvalidTime_isAChange() {
        NodeCondition odd = condition("Ready", "True", T, T);
        odd.setLastTransitionTime("yesterday");

        assertThat(NodeStatusDifference.hasChanged(status(READY), status(odd))).isTrue();
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

    /** A server leaves empty texts out of what it sends back. */
    @Test
    void hasChanged_emptyAndAbsentTexts_areEqual() {
        NodeCondition empty = condition("Ready", "True", T, T);
        empty.setReason("");
        empty.setMessage("");
        NodeCondition absent = condition("Ready", "True", T, T);
        absent.setReason(null);
        absent.setMessage(null);

        assertThat(NodeStatusDifference.hasChanged(status(empty), status(absent)))
                .isFalse();
    }
}
