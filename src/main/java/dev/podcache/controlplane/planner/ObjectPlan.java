package dev.podcache.controlplane.planner;

import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;

/** Computes what the agents hold of Secrets and ConfigMaps: watches, memory, connections. */
final class ObjectPlan {

    /** Of one node; more than its memory can hold. */
    private static final int MOST_WATCHES = 1_000_000_000;

    private ObjectPlan() {}

    static void add(PlanSettings settings, Figures figures) {
        Duration ttl = ttl(settings);
        figures.put(
                PlanFigure.CACHE_TTL,
                Figures.seconds(ttl),
                settings.ttl == null ? "what the TTL controller sets for %s nodes." : "as given, for %s nodes.",
                settings.nodes);
        addWatches(settings, figures);
        addMemory(settings, figures);
        addConnections(settings, figures);
        addSharedWrite(settings, figures);
    }

    static Duration ttl(PlanSettings settings) {
        return settings.ttl == null ? TtlOfCluster.of(settings.nodes) : settings.ttl;
    }

    private static boolean watches(PlanSettings settings) {
        return settings.strategy == ChangeDetectionStrategy.WATCH;
    }

    /** Returns the number of objects that one node's pods refer to. */
    static long objectsOfNode(PlanSettings settings) {
        return (long) settings.podsPerNode * settings.objectsPerPod();
    }

    private static void addWatches(PlanSettings settings, Figures figures) {
        long objects = watches(settings) ? objectsOfNode(settings) : 0;
        figures.put(
                PlanFigure.WATCHES_PER_NODE,
                (double) objects + PlanConstants.FIXED_WATCHES,
                "%s of Secrets and ConfigMaps + %s: the Node, its pods, Services.",
                objects,
                PlanConstants.FIXED_WATCHES);
        figures.put(
                PlanFigure.WATCHES,
                settings.nodes * figures.value(PlanFigure.WATCHES_PER_NODE),
                "%s nodes x %s watches.",
                settings.nodes,
                figures.value(PlanFigure.WATCHES_PER_NODE));
    }

    private static void addMemory(PlanSettings settings, Figures figures) {
        double watches = figures.value(PlanFigure.WATCHES);
        figures.put(
                PlanFigure.SERVER_MEMORY_LOW,
                watches * PlanConstants.SERVER_WATCH_BYTES_LOW,
                "%s watches x %s bytes, a crude estimate (kubernetes#117777).",
                watches,
                PlanConstants.SERVER_WATCH_BYTES_LOW);
        figures.put(
                PlanFigure.SERVER_MEMORY_HIGH,
                watches * PlanConstants.SERVER_WATCH_BYTES_HIGH,
                "%s watches x %s bytes, from the same estimate.",
                watches,
                PlanConstants.SERVER_WATCH_BYTES_HIGH);
        int bytes = switch (settings.strategy) {
            case WATCH -> PlanConstants.WATCHED_OBJECT_BYTES;
            case CACHE -> PlanConstants.CACHED_OBJECT_BYTES;
            case GET -> 0;
        };
        figures.put(
                PlanFigure.AGENT_MEMORY,
                (double) objectsOfNode(settings) * bytes,
                "%s objects x %s bytes, measured with objects of 1.5 KB.",
                objectsOfNode(settings),
                bytes);
    }

    private static void addConnections(PlanSettings settings, Figures figures) {
        int watches = (int) Math.min(MOST_WATCHES, figures.value(PlanFigure.WATCHES_PER_NODE));
        int connections = ApiConnections.forWatches(watches, settings.streamLimit);
        figures.put(
                PlanFigure.WATCH_CONNECTIONS,
                connections,
                "%s watches / %s streams of a connection, rounded up, and a spare one if at most a tenth of the streams of"
                        + " one is free.",
                watches,
                settings.streamLimit);
        figures.put(
                PlanFigure.NODE_CONNECTIONS,
                connections + PlanConstants.OTHER_CONNECTIONS,
                "%s for watches + %s: heartbeats, other requests.",
                connections,
                PlanConstants.OTHER_CONNECTIONS);
        figures.put(
                PlanFigure.CONNECTIONS,
                settings.nodes * figures.value(PlanFigure.NODE_CONNECTIONS),
                "%s nodes x %s connections.",
                settings.nodes,
                figures.value(PlanFigure.NODE_CONNECTIONS));
    }

    private static void addSharedWrite(PlanSettings settings, Figures figures) {
        int watchers = watches(settings) ? settings.nodes : 0;
        double seats = watchers < PlanConstants.WATCHERS_PER_SEAT
                ? 0
                : Math.ceil((double) watchers / PlanConstants.WATCHERS_PER_SEAT);
        figures.put(
                PlanFigure.SHARED_WRITE,
                seats * PlanConstants.SEAT_TIME.toMillis() / Math.max(1, Math.min(seats, PlanConstants.MOST_SEATS)),
                "%s watchers / %s = %s seats x %s ms, at most %s at a time: what the writer of one ConfigMap that all nodes"
                        + " watch pays to priority and fairness.",
                watchers,
                PlanConstants.WATCHERS_PER_SEAT,
                seats,
                PlanConstants.SEAT_TIME.toMillis(),
                PlanConstants.MOST_SEATS);
    }
}
