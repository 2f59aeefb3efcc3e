package dev.podcache.controlplane.planner;

import static dev.podcache.controlplane.planner.Figures.seconds;

import dev.podcache.time.PeriodicLoop;
import java.time.Duration;
import java.util.Locale;

/** Computes how many heartbeats the nodes send. */
final class HeartbeatPlan {

    private static final double MINUTE = 60;

    private HeartbeatPlan() {}

    static void add(PlanSettings settings, Figures figures) {
        addRates(settings, figures);
        addAttempts(settings, figures);
    }

    private static void addRates(PlanSettings settings, Figures figures) {
        double update = seconds(settings.profile.statusUpdate());
        figures.put(
                PlanFigure.STATUS_UPDATES,
                settings.nodes * MINUTE / update,
                "%s nodes x 60 s / %s s between status updates. Older kubelets write each of them; newer ones do if"
                        + " nodeStatusUpdateFrequency is set and nodeStatusReportFrequency is not.%s",
                settings.nodes,
                update,
                remark(settings));
        double interval = seconds(statusInterval(settings));
        figures.put(
                PlanFigure.STATUS_REPORTS,
                settings.nodes * MINUTE / interval,
                "%s nodes x 60 s / %s s. Newer kubelets write an unchanged status only after %s, at the next update,"
                        + " which comes every %s with jitter.",
                settings.nodes,
                interval,
                settings.statusReport,
                PeriodicLoop.meanPause(settings.profile.statusUpdate()));
        Duration renewal = PeriodicLoop.meanPause(settings.lease().interval());
        figures.put(
                PlanFigure.LEASE_RENEWALS,
                settings.nodes * MINUTE / seconds(renewal),
                "%s nodes x 60 s / %s: a quarter of the Lease's %s, lengthened by 0 to 4 %%.",
                settings.nodes,
                renewal,
                settings.leaseDuration);
    }

    /** Returns the mean time between two reports of an unchanged status. */
    static Duration statusInterval(PlanSettings settings) {
        return PeriodicLoop.meanPause(reportTick(settings));
    }

    /** Returns that time without jitter: a whole number of updates. */
    static Duration reportTick(PlanSettings settings) {
        Duration update = settings.profile.statusUpdate();
        double updates = seconds(settings.statusReport) / seconds(PeriodicLoop.meanPause(update));
        return update.multipliedBy((long) Math.max(1, Math.ceil(updates)));
    }

    private static String remark(PlanSettings settings) {
        if (!settings.profile.equals(TuningProfile.FAST)) {
            return "";
        }
        return String.format(
                Locale.ROOT,
                " The text that this profile comes from also says \"every 2 seconds\", which would make %,d; but 2 s is"
                        + " the period of the monitor, which writes nothing while the node is well.",
                settings.nodes * 30L);
    }

    private static void addAttempts(PlanSettings settings, Figures figures) {
        double grace = seconds(settings.profile.grace());
        double update = seconds(settings.profile.statusUpdate());
        double syncs = Math.floor(grace / update);
        figures.put(
                PlanFigure.FEWEST_ATTEMPTS,
                Math.max(0, syncs - 2) * PlanConstants.TRIES,
                "(%s syncs - 2) x %s tries. The first sync may just have succeeded, and the last one may be cut off.",
                syncs,
                PlanConstants.TRIES);
        figures.put(
                PlanFigure.MOST_ATTEMPTS,
                syncs * PlanConstants.TRIES,
                "%s s of grace / %s s between status updates = %s syncs, x %s tries each. Newer kubelets do not try while"
                        + " the status is unchanged; their Lease keeps the node alive.",
                grace,
                update,
                syncs,
                PlanConstants.TRIES);
        Duration interval = settings.lease().interval();
        Duration longest = PeriodicLoop.longestPause(interval);
        figures.put(
                PlanFigure.FEWEST_RENEWALS,
                Math.floor(grace / seconds(longest)),
                "%s s of grace / %s, the longest pause between renewals, rounded down. A failed renewal is tried %s times"
                        + " at once, and if the Lease can be read then, as many times again.",
                grace,
                longest,
                PlanConstants.TRIES);
        figures.put(
                PlanFigure.MOST_RENEWALS,
                Math.floor(grace / seconds(interval)),
                "%s s of grace / %s, the shortest pause between renewals, rounded down.",
                grace,
                interval);
    }
}
