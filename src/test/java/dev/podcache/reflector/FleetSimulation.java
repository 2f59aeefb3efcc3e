package dev.podcache.reflector;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A fleet of nodes whose API server is away for a while and comes back, on hand-driven time. Run by hand, it prints what
 * the server is asked for in each second: {@code FleetSimulation [nodes] [seconds away] [objects of a node]}.
 */
final class FleetSimulation {

    private static final Duration WARM_UP = Duration.ofSeconds(30);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FleetServer server;
    private final List<FleetNode> nodes = new ArrayList<>();
    private final Random random;

    FleetSimulation(FleetServer.Budget budget, boolean resumes, int size, int objects, long seed) {
        this.random = new Random(seed);
        this.server = new FleetServer(time, budget, resumes);
        for (int i = 0; i < size; i++) {
            nodes.add(new FleetNode(server, time, random::nextDouble, objects));
        }
    }

    /** Returns what happens in each second after the server is back, for {@code watched}. */
    List<FleetServer.Second> restart(Duration away, Duration watched) {
        for (FleetNode node : nodes) {
            time.schedule(Duration.ofNanos((long) (WARM_UP.toNanos() * random.nextDouble() / 2)), node::start);
        }
        time.advance(WARM_UP);
        server.stop();
        nodes.forEach(FleetNode::lost);
        time.advance(away);
        server.start();
        time.advance(watched.minusNanos(1));
        return server.since(Math.toIntExact(WARM_UP.plus(away).toSeconds()));
    }

    /** Returns what 15,000 nodes find 1,000 handshakes and 3,000 requests a second of, in proportion. */
    static FleetServer.Budget budget(int nodes) {
        return new FleetServer.Budget(nodes / 15, nodes / 5, 4_096 * nodes / 15_000, nodes / 5);
    }

    public static void main(String[] args) {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 15_000;
        int away = args.length > 1 ? Integer.parseInt(args[1]) : 60;
        int objects = args.length > 2 ? Integer.parseInt(args[2]) : 3;
        FleetServer.Budget budget = budget(size);
        for (boolean resumes : new boolean[] {true, false}) {
            System.out.printf(
                    "%d nodes, %d objects each; the server is away for %d s and %s%n",
                    size, objects, away, resumes ? "resumes watches" : "answers 410 to all watches");
            System.out.println("second  dials  connections  requests  throttled  recovered in all");
            int recovered = 0;
            int second = 0;
            FleetSimulation fleet = new FleetSimulation(budget, resumes, size, objects, 1);
            for (FleetServer.Second each : fleet.restart(Duration.ofSeconds(away), Duration.ofSeconds(90))) {
                recovered += each.recovered;
                System.out.printf(
                        "%6d %6d %12d %9d %10d %10d%n",
                        second, each.dials, each.connections, each.requests, each.throttled, recovered);
                second++;
            }
        }
    }
}
