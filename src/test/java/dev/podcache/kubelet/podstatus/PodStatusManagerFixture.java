package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.withConditions;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A manager that reports to an in-memory cluster, on a manual clock. */
abstract class PodStatusManagerFixture {

    final PodStatusFixture world = new PodStatusFixture();
    final PodStatusManager manager = world.manager;
    final Pod pod = world.create("cart", spec("Always", "c1", "c2"));
    final String uid = pod.getMetadata().getUid();

    @BeforeEach
    void start() {
        manager.start();
    }

    @AfterEach
    void close() {
        world.close();
    }

    static PodStatus ready(String status) {
        return withConditions(status("Running", running("c1"), running("c2")), condition("Ready", status));
    }

    static @Nullable String readyOf(PodStatus status) {
        PodCondition condition = PodParts.condition(status, "Ready");
        return condition == null ? null : condition.getStatus();
    }
}
