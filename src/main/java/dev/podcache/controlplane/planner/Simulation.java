package dev.podcache.controlplane.planner;

import com.google.common.collect.ImmutableMap;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleController;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.controlplane.planner.SimulatedAgent.SimulatedWorld;
import dev.podcache.controlplane.ttl.TtlController;
import dev.podcache.time.SimulatedTimekeeper;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A cluster in simulated time: the agents' heartbeats, the node lifecycle controller and the TTL controller, as they run
 * elsewhere, on a server without a network. Nodes die one after the other. The same settings always give the same
 * result. One thread, no I/O.
 */
public final class Simulation {

    private static final long SEED = 1;

    /** The least time between two deaths; tainting takes at least 10 s a node. */
    private static final Duration LEAST_BETWEEN_DEATHS = Duration.ofSeconds(30);

    /**
     * How late the timer of a real machine is. Without it, every pass at the end of a grace period would come exactly
     * then, and so find no node silent for longer.
     */
    private static final Duration LATENESS = Duration.ofMillis(1);

    /** The part of the nodes that may die: more would be a disruption of the zone, which slows eviction. */
    private static final int MOST_DEATHS = 4;

    private final PlanSettings settings;
    private final Duration length;
    private final SimulatedTimekeeper time = new SimulatedTimekeeper();
    private final Random random = new Random(SEED);
    private final DeathRecord deaths = new DeathRecord(time);
    private final ClusterCache cache = new ClusterCache(new ControllerLoop(time));
    private final SimulatedServer server = new SimulatedServer(cache, time, deaths);
    private final List<SimulatedAgent> agents = new ArrayList<>();

    private Simulation(PlanSettings settings, Duration length) {
        this.settings = settings;
        this.length = length;
    }

    /**
     * Simulates a cluster.
     *
     * @param length the simulated time
     * @throws IllegalArgumentException if {@code length} is less than {@link #shortest}
     */
    public static SimulationResult run(PlanSettings settings, Duration length) {
        requireEnough(settings, length);
        return new Simulation(settings, length).result();
    }

    /**
     * Checks the arguments of {@link #run}.
     *
     * @throws IllegalArgumentException if {@code length} is less than {@link #shortest}
     */
    public static void requireEnough(PlanSettings settings, Duration length) {
        if (length.compareTo(shortest(settings)) < 0) {
            throw new IllegalArgumentException("the simulated time must be at least "
                    + shortest(settings).toSeconds() + "s for profile " + settings.profile.name() + ", but is "
                    + length.toSeconds() + "s");
        }
    }

    /** Returns the least simulated time in which one node can die and its pod be evicted. */
    public static Duration shortest(PlanSettings settings) {
        return warmUp(settings).plus(afterDeath(settings)).plus(betweenDeaths(settings));
    }

    /**
     * Returns the time between two deaths: so much that the first node is tainted before the second one is due. Both the
     * moment of the death in its turn and the age of the last heartbeat vary by a renewal, and the pass of the monitor
     * that finds the node by two periods.
     */
    private static Duration betweenDeaths(PlanSettings settings) {
        Duration varying = settings.lease()
                .interval()
                .plus(settings.profile.monitorPeriod())
                .multipliedBy(2);
        return varying.compareTo(LEAST_BETWEEN_DEATHS) > 0 ? varying : LEAST_BETWEEN_DEATHS;
    }

    /** Returns the time in which the nodes start, one after the other, so that their heartbeats are spread. */
    private static Duration starting(PlanSettings settings) {
        Duration report = HeartbeatPlan.reportTick(settings);
        Duration renewal = settings.lease().interval();
        return report.compareTo(renewal) > 0 ? report : renewal;
    }

    /** Returns when counting begins: the second report of a node may come two reports' time after its start. */
    private static Duration warmUp(PlanSettings settings) {
        return starting(settings).multipliedBy(2).plus(HeartbeatPlan.statusInterval(settings));
    }

    /** Returns the time that the last death needs until its pod is evicted. */
    private static Duration afterDeath(PlanSettings settings) {
        return Duration.ofSeconds((long) Math.ceil(DetectionPlan.worstEvictionOfOne(settings)))
                .plus(betweenDeaths(settings));
    }

    private SimulationResult result() {
        startControllers();
        startAgents();
        time.pass(warmUp(settings).minus(starting(settings)));
        server.resetCounts();
        scheduleDeaths();
        time.pass(length.minus(warmUp(settings)));
        SimulationResult result = new SimulationResult(
                length,
                requestsPerSecond(),
                deaths.deaths(),
                deaths.falseAlarms(),
                deaths.detectionSeconds(),
                deaths.evictionSeconds());
        cache.loop().close();
        time.close();
        return result;
    }

    private void startControllers() {
        NodeLifecycleOptions options = NodeLifecycleOptions.DEFAULT
                .monitorPeriod(settings.profile.monitorPeriod().plus(LATENESS))
                .monitorGracePeriod(settings.profile.grace());
        new NodeLifecycleController(
                        cache, server, (about, type, reason, message) -> server.count(SimulatedRequest.EVENT), options)
                .start();
        new TtlController(cache, server).start();
        server.list();
    }

    private void startAgents() {
        SimulatedWorld world = new SimulatedWorld(time, random::nextDouble);
        Duration starting = starting(settings);
        long pause = starting.toNanos() / settings.nodes;
        for (int i = 0; i < settings.nodes; i++) {
            SimulatedAgent agent = new SimulatedAgent(name(i), settings, server, world);
            agents.add(agent);
            agent.start();
            time.pass(Duration.ofNanos(pause));
        }
        time.pass(starting.minusNanos(pause * settings.nodes));
    }

    /** Each death is at a random moment of its turn, so that it hits heartbeats and passes of the monitor anywhere. */
    private void scheduleDeaths() {
        Duration turn = betweenDeaths(settings);
        long turns = length.minus(warmUp(settings)).minus(afterDeath(settings)).dividedBy(turn);
        long dying = Math.min(Math.max(1, settings.nodes / MOST_DEATHS), turns);
        long jitter = settings.lease().interval().toNanos();
        for (int i = 0; i < dying; i++) {
            int node = (int) ((long) i * settings.nodes / dying);
            Duration at = turn.multipliedBy(i).plusNanos((long) (jitter * random.nextDouble()));
            createPod(name(node));
            time.schedule(at, () -> die(node));
        }
    }

    private void die(int node) {
        deaths.died(name(node));
        agents.get(node).die();
    }

    /** Creates a pod as admission leaves it: it tolerates an unreachable node for the time that the profile says. */
    private void createPod(String node) {
        server.createPod(new PodBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName("pod-" + node)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .addNewToleration()
                .withKey("node.kubernetes.io/unreachable")
                .withOperator("Exists")
                .withEffect("NoExecute")
                .withTolerationSeconds(settings.profile.eviction().toSeconds())
                .endToleration()
                .endSpec()
                .build());
    }

    private static String name(int node) {
        return "node-" + node;
    }

    private ImmutableMap<SimulatedRequest, Double> requestsPerSecond() {
        double counted = Figures.seconds(length.minus(warmUp(settings)));
        double alive = counted * settings.nodes - deaths.deadSeconds();
        ImmutableMap.Builder<SimulatedRequest, Double> perSecond = ImmutableMap.builder();
        for (SimulatedRequest request : SimulatedRequest.values()) {
            boolean heartbeat = request == SimulatedRequest.LEASE || request == SimulatedRequest.NODE_STATUS;
            perSecond.put(
                    request,
                    heartbeat ? server.requests(request) / alive * settings.nodes : server.requests(request) / counted);
        }
        return perSecond.build();
    }
}
