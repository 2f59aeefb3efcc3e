package dev.podcache.josdk;

import dev.podcache.josdk.OperatorContestant.Access;
import dev.podcache.josdk.OperatorUnderTest.Cost;
import dev.podcache.object.ObjectKey;
import dev.podcache.report.Draw;
import dev.podcache.report.Machine;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.ServerMetrics;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What does an operator cost that needs few of the Secrets of a cluster, by where it gets them? 1,000 websites in 50
 * namespaces name 2,000 of the 20,000 Secrets there, of 1.5 KB each.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.josdk.OperatorRun
 * }</pre>
 *
 * <p>Each contestant is a process of its own, with the access that it needs and no more, against one kube-apiserver. Puts
 * the table into {@code docs/comparison.md}, or the file that is its argument. Needs the programs that kube-api-test keeps
 * and takes about ten minutes; system property {@code operator.divisor} makes everything smaller.
 *
 * <ul>
 *   <li>Heap is what the process uses after full collections once each website was reconciled with all its Secrets, less
 *       what it used before the operator was started. Requests are those for Secrets until then: lists and GETs answered,
 *       and watches opened. Connections are all that the process has to the server.
 *   <li>Synced is from before the operator is started until each website was reconciled with all its Secrets.
 *   <li>Latency is from before an update of a Secret is sent until the last website that names it is reconciled with the
 *       new version: a tenth of the rotations one by one, the others by 8 threads at a time, where many are coalesced. A
 *       rotation is lost if some owner was not reconciled with its version or a later one.
 * </ul>
 */
public final class OperatorRun {

    private static final int DIVISOR = Integer.getInteger("operator.divisor", 1);
    private static final int WEBSITES = 1_000 / DIVISOR;
    private static final int NAMESPACES = 50 / DIVISOR;
    private static final int SECRETS = 20_000 / DIVISOR;
    private static final int ROTATIONS = 10_000 / DIVISOR;
    private static final int ONE_BY_ONE = ROTATIONS / 10;
    private static final int ROTATORS = 8;
    private static final double MILLI = 1e-6;
    private static final double MEGA = 1e-6;

    private static final String MARK = "<!-- operator run -->";

    private final RealApiServer server;
    private final WebsiteCluster cluster;
    private final Map<ObjectKey, Set<ObjectKey>> owners = new HashMap<>();

    private OperatorRun(RealApiServer server, WebsiteCluster cluster) {
        this.server = server;
        this.cluster = cluster;
        cluster.referenced().forEach(secret -> owners.put(secret, cluster.ownersOf(secret)));
    }

    /** Measures all contestants, one after the other. */
    public static void main(String[] args) throws Exception {
        Machine machine = Machine.now();
        List<String> rows = new ArrayList<>();
        try (RealApiServer server = RealApiServer.start();
                WebsiteCluster cluster = WebsiteCluster.create(server, "site", WEBSITES, NAMESPACES, SECRETS);
                KubernetesClient admin = server.client()) {
            OperatorAccess.grant(admin, cluster);
            OperatorRun run = new OperatorRun(server, cluster);
            for (OperatorContestant contestant : OperatorContestant.values()) {
                rows.add(run.measure(contestant));
                System.err.println(rows.get(rows.size() - 1));
            }
            Path document = Path.of(args.length == 0 ? "docs/comparison.md" : args[0]);
            Draw.fill(
                    document, MARK, machine.sentence() + " kube-apiserver " + server.version() + ".\n\n" + table(rows));
        } catch (IllegalStateException e) {
            // such as no kube-apiserver on this machine
            System.err.println("OperatorRun: " + e.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }

    private static String table(List<String> rows) {
        return String.format(
                        Locale.ROOT,
                        "| %,d of %,d Secrets, %,d websites, %d namespaces | access to Secrets | of which it shows |"
                                + " heap, MB | requests | connections | synced, s | latency, median, ms | 99th percentile |"
                                + " %,d rotations, lost |%n",
                        2 * WEBSITES,
                        SECRETS,
                        WEBSITES,
                        NAMESPACES,
                        ROTATIONS)
                + "|" + "---|".repeat(10) + "\n"
                + String.join("\n", rows);
    }

    private String measure(OperatorContestant contestant) throws Exception {
        Path kubeconfig = server.kubeconfigFor(OperatorAccess.user(contestant.access), OperatorAccess.GROUP);
        try (OperatorUnderTest operator = new OperatorUnderTest(contestant, kubeconfig)) {
            Cost before = operator.command("measure");
            long requestsBefore = requests();
            long started = System.nanoTime();
            operator.command("start");
            if (contestant.access == Access.NONE) {
                Cost cost = settled(operator);
                return row(
                        contestant.label, "none", "0", mega(cost.heap() - before.heap()), "0", "" + cost.connections());
            }
            long synced = 0;
            for (ObjectKey secret : cluster.referenced()) {
                synced = Math.max(synced, operator.seen.await(owners.get(secret), secret, 1));
            }
            Cost cost = settled(operator);
            long requests = requests() - requestsBefore;
            Rotations rotations = new Rotations(operator.seen);
            rotations.oneByOne();
            rotations.atOnce();
            return row(
                    contestant.label,
                    contestant.verbs,
                    String.format(Locale.ROOT, "%,d", revealed(contestant.access)),
                    mega(cost.heap() - before.heap()),
                    String.format(Locale.ROOT, "%,d", requests),
                    "" + cost.connections(),
                    String.format(Locale.ROOT, "%.1f", (synced - started) * 1e-9),
                    rotations.millisAt(0.5),
                    rotations.millisAt(0.99),
                    "" + rotations.lost);
        }
    }

    private static Cost settled(OperatorUnderTest operator) throws InterruptedException {
        Thread.sleep(2_000);
        return operator.command("measure");
    }

    private long requests() {
        ServerMetrics metrics = server.metrics();
        return metrics.requests("LIST", "secrets")
                + metrics.requests("GET", "secrets")
                + metrics.openWatches("secrets");
    }

    private int revealed(Access access) {
        return switch (access) {
            case NONE -> 0;
            case BY_NAME -> cluster.referenced().size();
            case NAMESPACES, CLUSTER -> SECRETS;
        };
    }

    private static String mega(long bytes) {
        return String.format(Locale.ROOT, "%.1f", bytes * MEGA);
    }

    private static String row(String... cells) {
        return "| " + String.join(" | ", cells) + " |" + " |".repeat(10 - cells.length);
    }

    /** The rotations of one contestant. */
    private final class Rotations {

        private final SeenSecrets seen;
        private final List<ObjectKey> secrets = cluster.referenced();
        private final long[] took = new long[ONE_BY_ONE];
        private int lost;

        Rotations(SeenSecrets seen) {
            this.seen = seen;
        }

        void oneByOne() throws InterruptedException {
            for (int i = 0; i < ONE_BY_ONE; i++) {
                ObjectKey secret = secrets.get(i % secrets.size());
                long sent = System.nanoTime();
                took[i] = await(secret, cluster.rotate(secret), sent) - sent;
            }
            Arrays.sort(took);
        }

        void atOnce() throws Exception {
            ExecutorService rotators = Executors.newFixedThreadPool(ROTATORS);
            try {
                List<Future<Long>> versions = new ArrayList<>();
                for (int i = ONE_BY_ONE; i < ROTATIONS; i++) {
                    ObjectKey secret = secrets.get(i % secrets.size());
                    versions.add(rotators.submit(() -> cluster.rotate(secret)));
                }
                for (int i = ONE_BY_ONE; i < ROTATIONS; i++) {
                    ObjectKey secret = secrets.get(i % secrets.size());
                    await(secret, versions.get(i - ONE_BY_ONE).get(), 0);
                }
            } finally {
                rotators.shutdown();
            }
        }

        private long await(ObjectKey secret, long version, long otherwise) throws InterruptedException {
            try {
                return seen.await(owners.get(secret), secret, version);
            } catch (AssertionError notReconciled) {
                System.err.println(notReconciled.getMessage());
                lost++;
                return otherwise;
            }
        }

        String millisAt(double quantile) {
            int rank = Math.max(0, (int) Math.ceil(quantile * took.length) - 1);
            return String.format(Locale.ROOT, "%.1f", took[rank] * MILLI);
        }
    }
}
