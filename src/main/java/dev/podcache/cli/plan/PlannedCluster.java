package dev.podcache.cli.plan;

import dev.podcache.controlplane.planner.Plan;
import dev.podcache.controlplane.planner.SimulationResult;
import org.jspecify.annotations.Nullable;

/**
 * A cluster under one profile.
 *
 * @param simulated null if it was not simulated
 */
record PlannedCluster(Plan plan, @Nullable SimulationResult simulated) {

    String profile() {
        return plan.settings().profile().name();
    }
}
