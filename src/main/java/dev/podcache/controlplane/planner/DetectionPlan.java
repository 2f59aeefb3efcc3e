package dev.podcache.controlplane.planner;

import static dev.podcache.controlplane.planner.Figures.seconds;

import com.google.common.collect.ImmutableList;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.time.PeriodicLoop;

/**
 * Computes how long it takes until a dead node is Unknown and until its pods are deleted. Requests, informers and the
 * monitor's passes themselves are counted as taking no time.
 */
final class DetectionPlan {

    /** The pause between two looks into the queue of nodes to taint. */
    private static final double TAINT_PASS = 0.1;

    private static final ImmutableList<PlanFigure> EVICTIONS = ImmutableList.of(
            PlanFigure.BEST_EVICTION, PlanFigure.MEAN_EVICTION, PlanFigure.WORST_TAINT, PlanFigure.WORST_EVICTION);

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

    /**
     * Returns how many of the failing nodes are tainted in a second, after the monitor has found all of them; 0 for none.
     * While it finds them one after the other, the rate may be higher.
     */
    static double taintRate(PlanSettings settings) {
        return NodeLifecycleOptions.DEFAULT.evictionRate(settings.nodes, settings.failingNodes);
    }

    /** Returns how long the pods of a node that dies alone may stay, in seconds. */
    static double worstEvictionOfOne(PlanSettings settings) {
        return seconds(settings.profile.grace())
                + 3 * seconds(settings.profile.monitorPeriod())
                + TAINT_PASS
                + seconds(settings.profile.eviction());
    }

    private static void addNoEviction(PlanSettings settings, Figures figures) {
        for (PlanFigure figure : EVICTIONS) {
            figures.put(
                    figure,
                    Double.POSITIVE_INFINITY,
                    "never: while %s of %s nodes of a zone are not Ready, the controller manager taints none of them.",
                    settings.failingNodes,
                    settings.nodes);
        }
    }

    private static void addEviction(PlanSettings settings, Figures figures) {
        double toleration = seconds(settings.profile.eviction());
        double grace = seconds(settings.profile.grace());
        double period = seconds(settings.profile.monitorPeriod());
        figures.put(
                PlanFigure.DOCUMENTED_EVICTION,
                grace + toleration,
                "%s s of grace + %s s of toleration, as the documents of this profile count.",
                grace,
                toleration);
        double rate = taintRate(settings);
        if (rate == 0) {
            addNoEviction(settings, figures);
            return;
        }
        double queued = (settings.failingNodes - 1) / rate;
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
                rate);
        figures.put(
                PlanFigure.WORST_EVICTION,
                figures.value(PlanFigure.WORST_TAINT) + toleration,
                "%s s until tainted + %s s of toleration.",
                figures.value(PlanFigure.WORST_TAINT),
                toleration);
    }
}
