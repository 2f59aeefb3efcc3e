package dev.podcache.controlplane.planner;

import static dev.podcache.controlplane.planner.Figures.seconds;

import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.time.PeriodicLoop;

/**
 * Computes how long it takes until a dead node is Unknown and until its pods are deleted. Requests, informers and the
 * monitor's passes themselves are counted as taking no time.
 */
final class DetectionPlan {

    /** The pause between two looks into the queue of nodes to taint. */
    private static final double TAINT_PASS = 0.1;

    /** Nodes per second that are tainted in a zone: the controller manager's {@code --node-eviction-rate}. */
    private static final double TAINT_RATE = NodeLifecycleOptions.DEFAULT.evictionRate();

    private DetectionPlan() {}

    static void add(PlanSettings settings, Figures figures) {
        addDetection(settings, figures);
        addEviction(settings, figures);
    }

    private static void addDetection(PlanSettings settings, Figures figures) {
        double grace = seconds(settings.profile.grace());
        double period = seconds(settings.profile.monitorPeriod());
        double renewal = seconds(PeriodicLoop.longestPause(settings.lease().interval()));
        figures.put(
                PlanFigure.BEST_DETECTION,
                Math.max(0, grace - renewal),
                "%s s of grace - %s s: the node died just before its next renewal.",
                grace,
                renewal);
        double age = seconds(PeriodicLoop.meanPause(settings.lease().interval())) / 2;
        double passes = Math.ceil(grace / period);
        figures.put(
                PlanFigure.MEAN_DETECTION,
                Math.max(figures.value(PlanFigure.BEST_DETECTION), passes * period + period / 2 - age),
                "%s s until a pass sees the last renewal + %s passes of %s s until the grace period is over - %s s from"
                        + " the last renewal to the death.",
                period / 2,
                passes,
                period,
                age);
        figures.put(
                PlanFigure.WORST_DETECTION,
                grace + 2 * period,
                "%s s + %s s of grace + %s s: one pass just missed the last renewal, another one the end of the grace"
                        + " period.",
                period,
                grace,
                period);
    }

    private static void addEviction(PlanSettings settings, Figures figures) {
        double toleration = seconds(settings.profile.eviction());
        double grace = seconds(settings.profile.grace());
        double period = seconds(settings.profile.monitorPeriod());
        double queued = (settings.failingNodes - 1) / TAINT_RATE;
        figures.put(
                PlanFigure.DOCUMENTED_EVICTION,
                grace + toleration,
                "%s s of grace + %s s of toleration, as the documents of this profile count.",
                grace,
                toleration);
        figures.put(
                PlanFigure.BEST_EVICTION,
                figures.value(PlanFigure.BEST_DETECTION) + period + toleration,
                "%s s until Unknown + %s s until the next pass, which taints the node + %s s of toleration.",
                figures.value(PlanFigure.BEST_DETECTION),
                period,
                toleration);
        figures.put(
                PlanFigure.MEAN_EVICTION,
                figures.value(PlanFigure.MEAN_DETECTION) + period + TAINT_PASS / 2 + queued / 2 + toleration,
                "%s s until Unknown + %s s until the next pass + %s s in the queue of taints + %s s of toleration.",
                figures.value(PlanFigure.MEAN_DETECTION),
                period,
                TAINT_PASS / 2 + queued / 2,
                toleration);
        figures.put(
                PlanFigure.WORST_TAINT,
                figures.value(PlanFigure.WORST_DETECTION) + period + TAINT_PASS + queued,
                "%s s until Unknown + %s s until the next pass + %s s + (%s failing nodes - 1) / %s a second.",
                figures.value(PlanFigure.WORST_DETECTION),
                period,
                TAINT_PASS,
                settings.failingNodes,
                TAINT_RATE);
        figures.put(
                PlanFigure.WORST_EVICTION,
                figures.value(PlanFigure.WORST_TAINT) + toleration,
                "%s s until tainted + %s s of toleration.",
                figures.value(PlanFigure.WORST_TAINT),
                toleration);
    }
}
