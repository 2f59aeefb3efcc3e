package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.agent.DemoSchedule.Act;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeTtlSource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.slf4j.event.Level;

/** The demo from its first line to its last. */
final class Demo {

    private static final Duration USUAL_LENGTH = Duration.ofSeconds(60);
    private static final Duration SYNC = Duration.ofMillis(100);
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final int PROGRESS_LINES = 20;
    private static final Duration LEAST_PROGRESS = Duration.ofSeconds(1);

    private final Console console;
    private final ChangeDetectionStrategy strategy;
    private final Duration length;
    private final DemoSchedule schedule;
    private final OutputOptions output;

    Demo(Console console, AgentOptions options, OutputOptions output) {
        this.console = console;
        this.strategy = options.strategy;
        this.length = options.duration == null ? USUAL_LENGTH : options.duration;
        this.schedule = DemoSchedule.of(length);
        this.output = output;
    }

    /** Plays it; returns the exit code. */
    int run() {
        console.logging().accept(output.verbose ? Level.DEBUG : Level.ERROR);
        try (DemoCluster cluster = DemoCluster.start(schedule.ttlSeconds());
                KubernetesClient client = cluster.client();
                Fabric8ApiServer server = Fabric8ApiServer.of(client)) {
            Account account = new Account(console.out(), output.format, System::nanoTime);
            Changes changes = new Changes(account, account::seconds);
            try (NodeAgent agent = new NodeAgent(server, options(), new Audience(account, changes, cluster::requests));
                    DemoKubelet kubelet = new DemoKubelet(agent.assigned()::pods, cluster.cluster())) {
                introduce(account, cluster);
                account.heading(
                        "The agent starts: it registers the pods of its node, and their objects are read for the first time.");
                agent.start();
                kubelet.start();
                play(new DemoScript(cluster, agent, changes, account), agent, account);
                agent.stopReading();
                account.block(new Summary(strategy, agent.inventory(), agent.counts())
                        .withChanges(changes.seenAfter())
                        .withRequests(cluster.requests(), cluster.requestsByKind())
                        .event());
            }
        }
        return 0;
    }

    private NodeAgentOptions options() {
        Duration share = length.dividedBy(PROGRESS_LINES);
        Duration progress = share.compareTo(LEAST_PROGRESS) < 0 ? LEAST_PROGRESS : share;
        return new NodeAgentOptions(DemoCluster.NODE, strategy, SYNC, progress);
    }

    private void introduce(Account account, DemoCluster cluster) {
        String kubectl = "kubectl --server=" + cluster.url() + " get secrets -A";
        String text = String.join(
                System.lineSeparator(),
                "Podcache demo: an agent on node " + DemoCluster.NODE
                        + " caches the Secrets and ConfigMaps that the node's pods" + " refer to.",
                "",
                "  strategy    " + strategyText(),
                "  readers     read everything that each pod refers to, " + 1000 / SYNC.toMillis() + " times a second.",
                "              hits: fresh in memory; stale: from memory, the server could not be asked; waited: for a request.",
                "  API server  in this process, at " + cluster.url() + ". Try it in another terminal:",
                "              " + kubectl,
                "  the end     comes by itself after " + length.toSeconds()
                        + " s, with a summary. Ctrl-C brings it earlier.");
        account.block(new Event(
                "started",
                text,
                ImmutableMap.of(
                        "node", DemoCluster.NODE,
                        "strategy", strategy.name(),
                        "server", cluster.url(),
                        "ttlSeconds", schedule.ttlSeconds(),
                        "endsAfterSeconds", length.toSeconds(),
                        "kubectl", kubectl)));
    }

    private String strategyText() {
        return strategy == ChangeDetectionStrategy.GET
                ? "GET. Nothing is cached: every read is a request."
                : strategy + ". Node " + DemoCluster.NODE + " is annotated " + NodeTtlSource.ANNOTATION + "="
                        + schedule.ttlSeconds() + ": so many seconds an object counts as fresh.";
    }

    /** Plays act after act, then waits for the end; returns early if the user wants so. */
    private void play(DemoScript script, NodeAgent agent, Account account) {
        awaitFirstReads(agent, account);
        double began = account.seconds();
        DemoSchedule left = schedule.shortenedBy(Duration.ofMillis((long) (began * 1000)));
        for (Act act : Act.values()) {
            if (!awaitTime(began + left.begin(act).toMillis() / 1000.0, account)) {
                return;
            }
            script.play(act);
        }
        awaitTime(length.toMillis() / 1000.0, account);
    }

    /** A cold JVM may take a second or two until the agent has read everything once; the acts mean nothing before. */
    private void awaitFirstReads(NodeAgent agent, Account account) {
        double latest = Math.min(account.seconds() + 5, length.toMillis() / 2000.0);
        boolean readAll = false;
        while (!readAll && account.seconds() < latest && console.await(LOOK, account)) {
            Counts counts = agent.counts();
            int objects = agent.inventory().objects();
            readAll = objects > 0 && counts.fetched() >= objects;
        }
    }

    /** Whether that time, in seconds of the account, came before the user wanted an end. */
    private boolean awaitTime(double at, Account account) {
        double left = at - account.seconds();
        return left <= 0 || console.await(Duration.ofNanos((long) (left * 1e9)), account);
    }
}
