package dev.podcache.kubelet.nodestatus;

import dev.podcache.kubelet.eviction.PressureType;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Instant;
import java.util.function.BooleanSupplier;

/** Sets one of the conditions MemoryPressure, DiskPressure and PIDPressure, and records an event when it changes. */
final class PressureSetter implements NodeStatusSetter {

    private final PressureType type;
    private final BooleanSupplier pressure;
    private final NodeEvents events;

    PressureSetter(PressureType type, BooleanSupplier pressure, NodeEvents events) {
        this.type = type;
        this.pressure = pressure;
        this.events = events;
    }

    @Override
    public void set(Node node, Instant now) {
        boolean under = pressure.getAsBoolean();
        NodeCondition condition = NodeConditions.find(node, type.condition());
        if (condition == null) {
            condition = NodeConditions.append(node, type.condition());
        }
        condition.setLastHeartbeatTime(ApiTime.of(now));
        String status = under ? NodeConditions.TRUE : NodeConditions.FALSE;
        if (!status.equals(condition.getStatus())) {
            PressureType.Wording wording = type.wording(under);
            condition.setStatus(status);
            condition.setReason(wording.reason());
            condition.setMessage(wording.message());
            condition.setLastTransitionTime(ApiTime.of(now));
            events.statusChanged(wording.event());
        }
    }
}
