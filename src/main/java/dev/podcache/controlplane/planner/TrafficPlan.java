package dev.podcache.controlplane.planner;

import dev.podcache.manager.ChangeDetectionStrategy;

/** Computes the bytes per second at the API server, of bodies, and in the history of etcd. */
final class TrafficPlan {

    private TrafficPlan() {}

    static void add(PlanSettings settings, Figures figures) {
        double leases = figures.value(PlanFigure.LEASE_REQUESTS);
        figures.put(
                PlanFigure.LEASE_BYTES,
                leases * 3 * PlanConstants.LEASE_BYTES,
                "%s renewals per second x 3 x %s bytes: request, answer, event for the controller manager.",
                leases,
                PlanConstants.LEASE_BYTES);
        double statuses = figures.value(PlanFigure.STATUS_REQUESTS);
        figures.put(
                PlanFigure.STATUS_BYTES,
                statuses
                        * (PlanConstants.STATUS_PATCH_BYTES
                                + (double) PlanConstants.NODE_BYTES * (1 + PlanConstants.OBSERVERS)),
                "%s reports per second x (%s bytes of patch + %s x %s bytes of Node: answer, events for agent, scheduler"
                        + " and controller manager).",
                statuses,
                PlanConstants.STATUS_PATCH_BYTES,
                1 + PlanConstants.OBSERVERS,
                PlanConstants.NODE_BYTES);
        addObjects(settings, figures);
        addPods(figures);
        double total = 0;
        for (PlanFigure part : new PlanFigure[] {
            PlanFigure.LEASE_BYTES, PlanFigure.STATUS_BYTES, PlanFigure.OBJECT_BYTES, PlanFigure.POD_BYTES
        }) {
            total += figures.value(part);
        }
        figures.put(PlanFigure.WIRE_BYTES, total, "the sum of the above; bodies only, without TLS and headers.");
        addHistory(settings, figures);
    }

    private static void addObjects(PlanSettings settings, Figures figures) {
        boolean watched = settings.strategy == ChangeDetectionStrategy.WATCH;
        double reads = figures.value(PlanFigure.GET_REQUESTS)
                + (watched ? settings.podStarts() * settings.objectsPerPod() : 0);
        double events = watched ? settings.changesPerSecond() : 0;
        figures.put(
                PlanFigure.OBJECT_BYTES,
                (reads + events) * PlanConstants.OBJECT_BYTES,
                "(%s reads + %s watch events per second) x %s bytes, of objects of 1.5 KB.",
                reads,
                events,
                PlanConstants.OBJECT_BYTES);
    }

    private static void addPods(Figures figures) {
        double writes = figures.value(PlanFigure.POD_STATUS_REQUESTS);
        double events = figures.value(PlanFigure.EVENT_REQUESTS);
        figures.put(
                PlanFigure.POD_BYTES,
                writes * PlanConstants.POD_BYTES * (2.0 + PlanConstants.OBSERVERS)
                        + events * 2 * PlanConstants.EVENT_BYTES,
                "%s pod writes x %s x %s bytes + %s events x 2 x %s bytes.",
                writes,
                2 + PlanConstants.OBSERVERS,
                PlanConstants.POD_BYTES,
                events,
                PlanConstants.EVENT_BYTES);
    }

    private static void addHistory(PlanSettings settings, Figures figures) {
        double leases = figures.value(PlanFigure.LEASE_REQUESTS);
        double statuses = figures.value(PlanFigure.STATUS_REQUESTS);
        double pods = figures.value(PlanFigure.POD_STATUS_REQUESTS);
        double events = figures.value(PlanFigure.EVENT_REQUESTS);
        double changes = settings.changesPerSecond();
        figures.put(
                PlanFigure.ETCD_BYTES,
                leases * PlanConstants.LEASE_HISTORY_BYTES
                        + statuses * PlanConstants.NODE_BYTES
                        + pods * PlanConstants.POD_BYTES
                        + events * PlanConstants.EVENT_BYTES
                        + changes * PlanConstants.OBJECT_BYTES,
                "%s Leases x %s bytes (NVSentinel#1705) + %s Nodes x %s + %s pods x %s + %s events x %s + %s objects x %s.",
                leases,
                PlanConstants.LEASE_HISTORY_BYTES,
                statuses,
                PlanConstants.NODE_BYTES,
                pods,
                PlanConstants.POD_BYTES,
                events,
                PlanConstants.EVENT_BYTES,
                changes,
                PlanConstants.OBJECT_BYTES);
    }
}
