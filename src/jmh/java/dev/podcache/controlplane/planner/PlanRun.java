package dev.podcache.controlplane.planner;

import dev.podcache.controlplane.planner.MeasuredDeaths.Death;
import dev.podcache.kubelet.agent.HollowNodes;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.Numbers;
import dev.podcache.report.Machine;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerMetrics;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Does a kube-apiserver get the requests that a plan says, and are dead nodes noticed within its bounds? Hollow nodes of
 * this process are the load; the server's own metrics count.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.controlplane.planner.PlanRun -Djmh.args="1000 fast WATCH 15"
 * }</pre>
 *
 * <p>The arguments are the number of nodes, the profile, the strategy, the minutes of counting, and the minutes before that
 * in which reports of the status spread; 200, default, WATCH, 15 and 10 if there are none. Prints a table: planned,
 * measured, and the measured figure relative to the plan. Takes these minutes and the time of the deaths.
 *
 * <ul>
 *   <li>Requests: those that the server answered while no node died. Each node has two pods, each with one Secret as a
 *       volume. Watches are those that are open.
 *   <li>Deaths: five further nodes, each with a pod, end without a word at random moments, 30 s apart. From then on until
 *       the condition Ready is Unknown, and until the pod has a deletion timestamp.
 *   <li>Older kubelets: 100 nodes that write their status at every update; the updates of a node times the number of
 *       nodes.
 * </ul>
 */
public final class PlanRun {

    private static final int PODS_PER_NODE = 2;
    private static final String SECRETS = "secrets";
    private static final int CREATORS = 16;
    private static final int OLDER_NODES = 100;
    private static final Duration UPDATES_COUNTED = Duration.ofMinutes(4);

    /** The hollow nodes' cache has no Node to follow, so the TTL is the kubelet's default. */
    private static final Duration TTL = Duration.ofMinutes(1);

    private final RealApiServer server;
    private final KubernetesClient client;
    private final PlanSettings settings;
    private final Duration settling;
    private final Duration counted;
    private final String namespace;

    private PlanRun(RealApiServer server, KubernetesClient client, PlanSettings settings, String[] args) {
        this.server = server;
        this.client = client;
        this.settings = settings;
        this.counted = minutes(args, 3, 15);
        this.settling = minutes(args, 4, 10);
        this.namespace = server.createNamespaceLike("plan");
    }

    /** Measures and prints. */
    public static void main(String[] args) throws Exception {
        PlanSettings settings = settings(args);
        Machine machine = Machine.now();
        try (RealApiServer server = RealApiServer.start();
                KubernetesClient client = server.client()) {
            System.out.println(machine.sentence() + " kube-apiserver " + server.version() + ". " + settings.nodes()
                    + " hollow nodes, profile " + settings.profile().name() + ", " + settings.strategy + ", "
                    + minutes(args, 3, 15).toMinutes() + " minutes.\n");
            System.out.println("| figure | planned | measured | relative |\n|---|---|---|---|");
            new PlanRun(server, client, settings, args).measure();
        }
        System.exit(0);
    }

    private static PlanSettings settings(String[] args) {
        String profile = args.length > 1 ? args[1] : "default";
        return PlanSettings.builder(args.length > 0 ? Integer.parseInt(args[0]) : 200)
                .profile(TuningProfile.ALL.stream()
                        .filter(each -> each.name().equals(profile))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("no profile " + profile)))
                .strategy(args.length > 2 ? ChangeDetectionStrategy.valueOf(args[2]) : ChangeDetectionStrategy.WATCH)
                .podsPerNode(PODS_PER_NODE)
                .objectsPerPod(1, 0)
                .podLifetime(Duration.ofDays(36_500))
                .ttl(TTL)
                .build();
    }

    private static Duration minutes(String[] args, int index, int otherwise) {
        return Duration.ofMinutes(args.length > index ? Long.parseLong(args[index]) : otherwise);
    }

    private void measure() throws Exception {
        HollowTemplate template = template("hollow-");
        createPods(template);
        int pods = settings.nodes() * PODS_PER_NODE;
        try (HollowNodes nodes = HollowNodes.start(client, settings.nodes(), template)) {
            await("all nodes are Ready", () -> nodes.ready() == settings.nodes());
            await("all pods run", () -> nodes.running() == pods);
            // the second report of a node may come two reports' time after its start
            TimeUnit.NANOSECONDS.sleep(settling.toNanos());
            count();
            measureDeaths();
        }
        measureUpdates();
    }

    private void count() throws InterruptedException {
        Plan plan = Plan.of(settings);
        ServerMetrics before = server.metrics();
        long began = System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(counted.toNanos());
        ServerMetrics after = server.metrics();
        double seconds = (System.nanoTime() - began) / 1e9;
        row(
                "Lease renewals per second",
                plan.value(PlanFigure.LEASE_REQUESTS),
                rate(before, after, "PUT", "leases", seconds));
        row(
                "node statuses per second",
                plan.value(PlanFigure.STATUS_REQUESTS),
                rate(before, after, "PATCH", "nodes", seconds));
        row(
                "GETs of Secrets per second",
                plan.value(PlanFigure.GET_REQUESTS),
                rate(before, after, "GET", SECRETS, seconds));
        long watches = settings.strategy == ChangeDetectionStrategy.WATCH ? settings.objects() : 0;
        row("watches of Secrets", watches, after.openWatchesInNamespaces(SECRETS));
    }

    private static double rate(
            ServerMetrics before, ServerMetrics after, String verb, String resource, double seconds) {
        return (after.requests(verb, resource) - before.requests(verb, resource)) / seconds;
    }

    private void measureDeaths() throws Exception {
        Plan plan = Plan.of(settings);
        List<Death> deaths = new MeasuredDeaths(server, client, settings, namespace).measure();
        bounds(
                "until Unknown, s",
                plan.value(PlanFigure.BEST_DETECTION),
                plan.value(PlanFigure.WORST_DETECTION),
                deaths.stream().map(Death::detectedAfter).toList());
        bounds(
                "until the pod is deleted, s",
                plan.value(PlanFigure.BEST_EVICTION),
                plan.value(PlanFigure.WORST_EVICTION),
                deaths.stream().map(Death::evictedAfter).toList());
    }

    /** Nodes that write their status at every update, as older kubelets do. */
    private void measureUpdates() throws InterruptedException {
        Duration update = settings.profile().statusUpdate();
        HollowTemplate template = template("older-").statusReport(update);
        try (HollowNodes nodes = HollowNodes.start(client, OLDER_NODES, template)) {
            await("all older nodes are Ready", () -> nodes.ready() == OLDER_NODES);
            // the writes of the registration are over
            TimeUnit.NANOSECONDS.sleep(update.toNanos());
            long before = server.metrics().requests("PATCH", "nodes");
            TimeUnit.NANOSECONDS.sleep(UPDATES_COUNTED.toNanos());
            double updates = server.metrics().requests("PATCH", "nodes") - before;
            row(
                    "status updates a minute, older kubelets",
                    Plan.of(settings).value(PlanFigure.STATUS_UPDATES),
                    updates / UPDATES_COUNTED.toMinutes() * settings.nodes() / OLDER_NODES);
        }
    }

    private static void row(String figure, double planned, double measured) {
        String relative = planned == 0 ? "" : Numbers.text(measured / planned);
        System.out.println("| " + figure + " | " + Numbers.text(planned) + " | " + Numbers.text(measured) + " | "
                + relative + " |");
    }

    private static void bounds(String figure, double best, double worst, List<Duration> measured) {
        double low = Figures.seconds(measured.stream().min(Duration::compareTo).orElseThrow());
        double high = Figures.seconds(measured.stream().max(Duration::compareTo).orElseThrow());
        System.out.println("| " + figure + " | " + Numbers.text(best) + " to " + Numbers.text(worst) + " | "
                + Numbers.text(low) + " to " + Numbers.text(high) + " | "
                + (low >= best && high <= worst ? "within" : "**outside**") + " |");
    }

    private HollowTemplate template(String prefix) {
        return new HollowTemplate()
                .prefix(prefix)
                .strategy(settings.strategy)
                .leaseDuration(settings.leaseDuration)
                .statusReport(settings.statusReport);
    }

    private void createPods(HollowTemplate template) throws Exception {
        ExecutorService creators = Executors.newFixedThreadPool(CREATORS);
        try {
            List<? extends Future<?>> created = IntStream.range(0, settings.nodes() * PODS_PER_NODE)
                    .mapToObj(i -> creators.submit(() -> create("pod-" + i, template.name(i / PODS_PER_NODE))))
                    .toList();
            for (Future<?> one : created) {
                one.get();
            }
        } finally {
            creators.shutdown();
        }
    }

    private void create(String name, String node) {
        client.resource(Secrets.of(namespace, name, "x".repeat(1_500))).create();
        client.resource(pod(namespace, name, node, settings)).create();
    }

    /** Returns a pod with one Secret as a volume that tolerates an unreachable node as long as the profile says. */
    static Pod pod(String namespace, String name, String node, PlanSettings settings) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .withAutomountServiceAccountToken(false)
                .addNewToleration()
                .withKey("node.kubernetes.io/unreachable")
                .withOperator("Exists")
                .withEffect("NoExecute")
                .withTolerationSeconds(settings.profile().eviction().toSeconds())
                .endToleration()
                .addNewContainer()
                .withName("main")
                .withImage("hollow")
                .addNewVolumeMount()
                .withName("secret")
                .withMountPath("/secret")
                .endVolumeMount()
                .endContainer()
                .addNewVolume()
                .withName("secret")
                .withNewSecret()
                .withSecretName(name)
                .endSecret()
                .endVolume()
                .endSpec()
                .build();
    }

    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.MINUTES.toNanos(20);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > giveUp) {
                throw new IllegalStateException("gave up: " + what + " did not come true within 20 minutes");
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }
}
