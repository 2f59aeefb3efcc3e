package dev.podcache.controlplane.planner;

import static dev.podcache.controlplane.planner.Figures.seconds;

import dev.podcache.reflector.Recovery;
import dev.podcache.time.OutageBackoff;

/**
 * Computes the requests that follow when the API server was away for less than a minute and all agents come back. In a
 * longer outage the agents dial up to 10 s later, and so come back more slowly.
 */
final class RestartPlan {

    private RestartPlan() {}

    static void add(PlanSettings settings, Figures figures) {
        double watches = figures.value(PlanFigure.WATCHES);
        double connections = figures.value(PlanFigure.CONNECTIONS);
        double connecting =
                Math.max(seconds(OutageBackoff.INITIAL_PAUSE), connections / (double) PlanConstants.HANDSHAKES);
        int ofNode = (int) Math.min(Integer.MAX_VALUE, figures.value(PlanFigure.WATCHES_PER_NODE));
        double spread = seconds(Recovery.spread(ofNode));
        figures.put(PlanFigure.RESUMED, watches, "%s watches, one request each.", watches);
        figures.put(
                PlanFigure.PEAK_REQUESTS,
                watches / Math.max(connecting, spread),
                "%s watches / %s s, the longer of connecting (%s connections, %s TLS handshakes per second, at least %s)"
                        + " and the %s s over which a node spreads its watches.",
                watches,
                Math.max(connecting, spread),
                connections,
                PlanConstants.HANDSHAKES,
                OutageBackoff.INITIAL_PAUSE,
                spread);
        figures.put(
                PlanFigure.RESUME_TIME,
                Math.max(connecting + spread, watches / PlanConstants.REQUESTS),
                "the longer of %s s + %s s and %s requests / %s per second, which the server is assumed to answer.",
                connecting,
                spread,
                watches,
                PlanConstants.REQUESTS);
        addLists(figures, connecting, spread);
    }

    private static void addLists(Figures figures, double connecting, double spread) {
        double requests = 2 * figures.value(PlanFigure.WATCHES);
        double paced = Math.max(spread, figures.value(PlanFigure.WATCHES_PER_NODE) / Recovery.LISTS_PER_SECOND);
        figures.put(PlanFigure.LISTED_AGAIN, requests, "2 x %s watches: a list and a watch each.", requests / 2);
        figures.put(
                PlanFigure.RELIST_TIME,
                Math.max(connecting + paced, requests / PlanConstants.REQUESTS),
                "the longer of %s s + %s s, at most %s lists per second of one node, and %s requests / %s per second.",
                connecting,
                paced,
                Recovery.LISTS_PER_SECOND,
                requests,
                PlanConstants.REQUESTS);
    }
}
