package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.agent.DemoSchedule.Act;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;

/** The demo from its first line to its last. */
final class Demo {

    private static final Duration USUAL_LENGTH = Duration.ofSeconds(60);
    private static final Duration SYNC = Duration.ofMillis(250);
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
        this.schedule = new DemoSchedule(length);
        this.output = output;
    }

    /** Plays it; returns the exit code. */
    int run() {
        AgentLogging.toStandardError(output.verbose);
        try (DemoCluster cluster = DemoCluster.start(schedule.ttlSeconds());
                KubernetesClient client = cluster.client();
                Fabric8ApiServer server = Fabric8ApiServer.of(client)) {
            Account account = new Account(console.out(), output.format, System::nanoTime);
            Changes changes = new Changes(account, account::seconds);
            try (NodeAgent agent = new NodeAgent(server, options(), account, changes, cluster::requests);
                    DemoKubelet kubelet = new DemoKubelet(agent.assigned()::pods, cluster.cluster())) {
                introduce(account, cluster);
                agent.start();
                kubelet.start();
                play(new DemoScript(cluster, agent, changes, account), account);
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
                        + " keeps what the node's pods refer to cached, strategy " + strategy + ".",
                "The API server is in this process, at " + cluster.url() + ". It ends by itself after "
                        + length.toSeconds() + " s. Meanwhile try, in another terminal:",
                "",
                "  " + kubectl,
                "",
                "Every pod's objects are read " + 1000 / SYNC.toMillis()
                        + " times a second. Node " + DemoCluster.NODE + " has the annotation "
                        + "node.alpha.kubernetes.io/ttl=" + schedule.ttlSeconds()
                        + ": so many seconds is an object fresh.",
                "");
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

    /** Plays act after act, then waits for the end; returns early if the user wants so. */
    private void play(DemoScript script, Account account) {
        for (Act act : Act.values()) {
            if (!awaitTime(schedule.begin(act), account)) {
                return;
            }
            script.play(act);
        }
        awaitTime(length, account);
    }

    private boolean awaitTime(Duration at, Account account) {
        Duration left = at.minusNanos((long) (account.seconds() * 1e9));
        return left.isNegative() || console.await(left, account);
    }
}
