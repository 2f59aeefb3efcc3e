package dev.podcache.controlplane.planner;

import static dev.podcache.controlplane.planner.Figures.seconds;

import dev.podcache.kubelet.podsync.SyncPeriods;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;

/** Computes the requests per second at the API server, in the steady state. */
final class RequestPlan {

    private static final double MINUTE = 60;

    private RequestPlan() {}

    static void add(PlanSettings settings, Figures figures) {
        perSecond(PlanFigure.LEASE_REQUESTS, PlanFigure.LEASE_RENEWALS, figures);
        perSecond(PlanFigure.STATUS_REQUESTS, PlanFigure.STATUS_REPORTS, figures);
        addPods(settings, figures);
        addWatches(settings, figures);
        addGets(settings, figures);
        addTotal(figures);
        addShares(settings, figures);
    }

    private static void perSecond(PlanFigure figure, PlanFigure perMinute, Figures figures) {
        double value = figures.value(perMinute);
        figures.put(figure, value / MINUTE, "%s a minute / 60.", value);
    }

    private static void addPods(PlanSettings settings, Figures figures) {
        figures.put(
                PlanFigure.POD_STATUS_REQUESTS,
                settings.podStarts() * PlanConstants.POD_WRITES,
                "%s pods / %s of life x %s: Pending, Running, ended, deleted.",
                settings.pods(),
                settings.podLifetime,
                PlanConstants.POD_WRITES);
        figures.put(
                PlanFigure.EVENT_REQUESTS,
                settings.podStarts() * PlanConstants.POD_EVENTS,
                "%s pods / %s of life x %s: Scheduled, Killing. A kubelet also writes Pulled, Created and Started.",
                settings.pods(),
                settings.podLifetime,
                PlanConstants.POD_EVENTS);
    }

    private static void addWatches(PlanSettings settings, Figures figures) {
        double watches = figures.value(PlanFigure.WATCHES);
        boolean watched = settings.strategy == ChangeDetectionStrategy.WATCH;
        double opened = watched ? settings.podStarts() * settings.objectsPerPod() : 0;
        figures.put(
                PlanFigure.WATCH_REQUESTS,
                watches / seconds(PlanConstants.WATCH_LIFE) + opened,
                "%s watches / %s, the mean life of a watch, + %s for objects of new pods. Servers before 1.32 get a list"
                        + " and a watch for each of these.",
                watches,
                PlanConstants.WATCH_LIFE,
                opened);
    }

    private static void addGets(PlanSettings settings, Figures figures) {
        if (settings.strategy == ChangeDetectionStrategy.WATCH) {
            figures.put(PlanFigure.GET_REQUESTS, 0, "none: under Watch, reads are answered from memory.");
            return;
        }
        Duration interval = getInterval(settings);
        figures.put(
                PlanFigure.GET_REQUESTS,
                settings.objects() / seconds(interval) + settings.podStarts() * settings.objectsPerPod(),
                "%s objects / %s between requests: a pod reads its volumes every %s, %s. Further %s for new pods.",
                settings.objects(),
                interval,
                syncInterval(settings),
                settings.strategy == ChangeDetectionStrategy.CACHE
                        ? "and the TTL is " + ObjectPlan.ttl(settings).toSeconds() + " s"
                        : "each time with a request",
                settings.podStarts() * settings.objectsPerPod());
    }

    private static Duration syncInterval(PlanSettings settings) {
        return SyncPeriods.of(settings.syncFrequency).meanSettled();
    }

    /**
     * Returns the mean time between two requests for an object that one pod reads at each sync. The first sync after the
     * end of the TTL makes the request; on average half a sync period after it, if the TTL is longer than a period.
     */
    private static Duration getInterval(PlanSettings settings) {
        Duration sync = syncInterval(settings);
        Duration ttl = ObjectPlan.ttl(settings);
        boolean everySync =
                settings.strategy == ChangeDetectionStrategy.GET || ttl.compareTo(settings.syncFrequency) <= 0;
        return everySync ? sync : ttl.plus(sync.dividedBy(2));
    }

    private static void addTotal(Figures figures) {
        double total = 0;
        for (PlanFigure figure : PlanFigure.values()) {
            if (figure.group() == PlanFigure.Group.REQUESTS && figure != PlanFigure.ALL_REQUESTS) {
                total += figures.value(figure);
            }
        }
        figures.put(PlanFigure.ALL_REQUESTS, total, "the sum of the above.");
    }

    private static void addShares(PlanSettings settings, Figures figures) {
        double writes = figures.value(PlanFigure.LEASE_REQUESTS)
                + figures.value(PlanFigure.STATUS_REQUESTS)
                + figures.value(PlanFigure.POD_STATUS_REQUESTS)
                + figures.value(PlanFigure.EVENT_REQUESTS);
        double changes = settings.changesPerSecond();
        figures.put(
                PlanFigure.ETCD_SHARE,
                (writes + changes) * 100 / PlanConstants.ETCD_WRITES,
                "(%s writes of the nodes + %s changes of Secrets and ConfigMaps per second) / %s writes of one etcd member on"
                        + " NVMe (k8s-1m).",
                writes,
                changes,
                PlanConstants.ETCD_WRITES);
        figures.put(
                PlanFigure.WATCH_CACHE_SHARE,
                figures.value(PlanFigure.LEASE_REQUESTS) * 100 / PlanConstants.WATCH_CACHE_UPDATES,
                "%s Lease renewals per second / %s updates per second of one type (k8s-1m).",
                figures.value(PlanFigure.LEASE_REQUESTS),
                PlanConstants.WATCH_CACHE_UPDATES);
    }
}
