package dev.podcache.controlplane.planner;

import com.google.common.collect.ImmutableList;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.object.Numbers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What the heartbeats, caches and watches of a cluster's nodes cost its API server, and how soon a dead node is noticed.
 * Computed from {@link PlanSettings} alone, without I/O. Immutable.
 */
public final class Plan {

    private final PlanSettings settings;
    private final Figures figures;

    private Plan(PlanSettings settings, Figures figures) {
        this.settings = settings;
        this.figures = figures;
    }

    /** Returns the plan of a cluster. */
    public static Plan of(PlanSettings settings) {
        Figures figures = new Figures();
        HeartbeatPlan.add(settings, figures);
        ObjectPlan.add(settings, figures);
        RequestPlan.add(settings, figures);
        TrafficPlan.add(settings, figures);
        DetectionPlan.add(settings, figures);
        RestartPlan.add(settings, figures);
        return new Plan(settings, figures);
    }

    public PlanSettings settings() {
        return settings;
    }

    /** Returns a figure in the unit that its name or its group has; infinite if it is a time that never comes. */
    public double value(PlanFigure figure) {
        return figures.value(figure);
    }

    /** Returns how a figure was computed, as text for people. */
    public String arithmetic(PlanFigure figure) {
        return figures.get(figure).arithmetic();
    }

    /** Returns what is dangerous about these settings, one sentence each, with a remedy; usually empty. */
    public ImmutableList<String> warnings() {
        List<String> warnings = new ArrayList<>();
        double renewals = value(PlanFigure.FEWEST_RENEWALS);
        if (renewals < 1) {
            warnings.add(
                    "healthy nodes become Unknown: the Lease is renewed less often than once in the grace period of "
                            + settings.profile.grace().toSeconds() + " s; shorten the Lease, below "
                            + settings.leaseDuration.toSeconds() + " s");
        } else if (renewals < 2) {
            warnings.add("one lost Lease renewal can make a healthy node Unknown: the grace period of "
                    + settings.profile.grace().toSeconds() + " s has time for one; shorten the Lease, below "
                    + settings.leaseDuration.toSeconds() + " s");
        }
        warnOfDisruption(warnings);
        warnOfLimit(warnings, PlanFigure.ETCD_SHARE, "etcd");
        warnOfLimit(warnings, PlanFigure.WATCH_CACHE_SHARE, "the watch cache of Leases");
        return ImmutableList.copyOf(warnings);
    }

    private void warnOfDisruption(List<String> warnings) {
        double rate = DetectionPlan.taintRate(settings);
        double usual = NodeLifecycleOptions.DEFAULT.evictionRate();
        if (rate < usual) {
            warnings.add(String.format(
                    Locale.ROOT,
                    "when %d of %d nodes fail, the zone is disrupted and %s; if these nodes are in several zones, plan one of"
                            + " the zones",
                    settings.failingNodes,
                    settings.nodes,
                    rate == 0
                            ? "no pod is evicted until more nodes are Ready"
                            : "only one node in " + Numbers.text(1 / rate) + " s loses its pods"));
        }
    }

    private void warnOfLimit(List<String> warnings, PlanFigure share, String what) {
        if (value(share) > 50) {
            warnings.add(String.format(
                    Locale.ROOT,
                    "%s is at %.0f %% of what it can take; lengthen the Lease or plan fewer nodes",
                    what,
                    value(share)));
        }
    }
}
