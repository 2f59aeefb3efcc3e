package dev.podcache;

import dev.podcache.RouteContestant.Route;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKey;
import dev.podcache.report.Draw;
import dev.podcache.report.Machine;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/**
 * How soon does an ingress router have the Secrets of 2,000 routes, if the API server takes its time? The load on which
 * OpenShift's router, with an informer for each Secret started one after the other, needed 65 s for 112 Secrets and 40.9
 * minutes for 1,738 (openshift/library-go pull request 2132).
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.OpenRouteRun -Djmh.jvm=-XX:TieredStopAtLevel=1
 * }</pre>
 *
 * <p>On the embedded API server, which answers every request after 587 ms, then after 1,414 ms: the two delays of that
 * report. Podcache reads each Secret on behalf of a ServiceAccount, which may get it by a Role of its own, so there is a
 * review for each route; informers ask nobody. When all Secrets can be read, every tenth is deleted, created again, and
 * then those routes lose and regain the right to read. Each of these figures is the time until the last of the routes shows
 * it. Puts the table into {@code docs/comparison.md}, or the file that is its argument.
 *
 * <p>Every contestant runs once without a delay first, because the server in the same JVM has to be compiled, too, and for
 * the same reason the program is to be run with the first compiler only. Then each is measured once with each delay. Then
 * Podcache is measured again, in turn, {@value #MOST_RUNS} times at most, as long as another run ends within seven minutes
 * from the start, or as many as the system property {@code routes.minutes} says. A change that a contestant does not show
 * within half a minute is given up.
 *
 * <p>Informers that start one after the other are measured for {@value #IN_SEQUENCE} routes, and the time for all is
 * computed from that: an hour and a half at the longer delay.
 */
public final class OpenRouteRun {

    /** The ServiceAccount of the router, one in each namespace. */
    static final String ACCOUNT = "router";

    static final List<Duration> DELAYS = List.of(Duration.ofMillis(587), Duration.ofMillis(1_414));
    private static final int ROUTES = 2_000;
    private static final int OF_A_NAMESPACE = 100;
    private static final int IN_SEQUENCE = 5;
    private static final int MOST_RUNS = 5;
    private static final Duration LENGTH = Duration.ofMinutes(Integer.getInteger("routes.minutes", 7));
    private static final Duration GIVE_UP = Duration.ofSeconds(30);
    private static final String MARK = "<!-- open routes -->";

    private OpenRouteRun() {}

    /** Who reads the Secrets, and how. */
    enum RoutesBy {
        /** Podcache, a watch for each Secret. */
        OBJECT("Podcache, scope `OBJECT`", (client, any) -> new RoutesOfPodcache(client, WatchScope.OBJECT)),
        /** Podcache, a watch for each namespace. */
        NAMESPACE("Podcache, scope `NAMESPACE`", (client, any) -> new RoutesOfPodcache(client, WatchScope.NAMESPACE)),
        /** An informer for each Secret, all started at once. */
        TOGETHER("an informer for each Secret, started together", RoutesOfInformers::new),
        /** An informer for each Secret, each started when the one before has synced. */
        IN_SEQUENCE("an informer for each Secret, one after the other", RoutesOfInformers::new);

        final String label;
        private final BiFunction<KubernetesClient, InformerContestant.Start, RouteContestant> opened;

        RoutesBy(String label, BiFunction<KubernetesClient, InformerContestant.Start, RouteContestant> opened) {
            this.label = label;
            this.opened = opened;
        }

        boolean isPodcache() {
            return this == OBJECT || this == NAMESPACE;
        }

        RouteContestant open(KubernetesClient client) {
            return opened.apply(
                    client,
                    this == IN_SEQUENCE ? InformerContestant.Start.IN_SEQUENCE : InformerContestant.Start.TOGETHER);
        }
    }

    /**
     * What one run found; times in seconds, NaN where there is none.
     *
     * @param readable from the registration of the first route until all Secrets were read
     * @param wrong routes that still showed something else half a minute after the last change was seen
     */
    record RouteTimes(double readable, double deleted, double recreated, double revoked, double allowed, int wrong) {}

    /** Runs all, and writes the table. */
    public static void main(String[] args) throws Exception {
        Machine machine = Machine.now();
        Draw.fill(
                Path.of(args.length == 0 ? "docs/comparison.md" : args[0]),
                MARK,
                machine.sentence() + "\n\n" + table(DELAYS, ROUTES, LENGTH));
        System.exit(0);
    }

    /**
     * Measures all contestants, and returns the table.
     *
     * @param length after which no run of Podcache is repeated
     */
    static String table(List<Duration> delays, int routes, Duration length) throws InterruptedException {
        long begun = System.nanoTime();
        Map<RoutesBy, Map<Duration, List<RouteTimes>>> found = new EnumMap<>(RoutesBy.class);
        for (RoutesBy by : RoutesBy.values()) {
            // the server is in this JVM, and has to be compiled first
            RouteTimes cold = run(by, by == RoutesBy.IN_SEQUENCE ? IN_SEQUENCE : routes, Duration.ofMillis(1));
            System.err.println(by + " at first, without a delay: " + cold);
        }
        boolean more = true;
        for (int round = 0; round < MOST_RUNS && more; round++) {
            double ofPodcache = 0;
            for (Duration delay : delays) {
                for (RoutesBy by : RoutesBy.values()) {
                    if (round == 0 || by.isPodcache()) {
                        long began = System.nanoTime();
                        RouteTimes times = run(by, by == RoutesBy.IN_SEQUENCE ? IN_SEQUENCE : routes, delay);
                        found.computeIfAbsent(by, first -> new HashMap<>())
                                .computeIfAbsent(delay, first -> new ArrayList<>())
                                .add(times);
                        ofPodcache += by.isPodcache() ? seconds(began) : 0;
                        System.err.println(by + " " + delay.toMillis() + " ms: " + times);
                    }
                }
            }
            more = seconds(begun) + ofPodcache < length.toSeconds();
        }
        return header(routes) + rows(found, delays, routes);
    }

    private static String rows(
            Map<RoutesBy, Map<Duration, List<RouteTimes>>> found, List<Duration> delays, int routes) {
        List<String> rows = new ArrayList<>();
        for (Duration delay : delays) {
            found.forEach((by, times) -> rows.add(row(by, delay, times.getOrDefault(delay, List.of()), routes)));
        }
        return String.join("\n", rows);
    }

    /** Measures one contestant with so many routes. */
    static RouteTimes run(RoutesBy by, int routes, Duration delay) throws InterruptedException {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server =
                        EmbeddedApiServer.builder(cluster).rbac().start()) {
            List<Route> all = IntStream.range(0, routes)
                    .mapToObj(i -> new Route("shop-" + i / OF_A_NAMESPACE, "route-" + i))
                    .toList();
            List<Route> changed = IntStream.range(0, routes)
                    .filter(i -> i % 10 == 0)
                    .mapToObj(all::get)
                    .toList();
            all.forEach(route -> {
                put(cluster, route, "1");
                cluster.create(role(route));
                cluster.create(binding(route));
            });
            server.faults().delay(delay, RequestPattern.any());
            try (RouteContestant contestant = by.open(client(server))) {
                long begun = System.nanoTime();
                contestant.start(all);
                double readable = seconds(begun);
                Shown shown = new Shown(contestant);
                begun = System.nanoTime();
                changed.forEach(route -> cluster.delete(secret(route, "1")));
                double deleted = shown.until(changed, RouteContestant.ABSENT, begun);
                begun = System.nanoTime();
                changed.forEach(route -> put(cluster, route, "2"));
                double recreated = shown.until(changed, "2", begun);
                double revoked = Double.NaN;
                double allowed = Double.NaN;
                if (by.isPodcache()) {
                    begun = System.nanoTime();
                    changed.forEach(route -> cluster.delete(binding(route)));
                    revoked = shown.until(changed, RouteContestant.DENIED, begun);
                    begun = System.nanoTime();
                    changed.forEach(route -> cluster.create(binding(route)));
                    allowed = shown.until(changed, "2", begun);
                }
                List<Route> others =
                        all.stream().filter(route -> !changed.contains(route)).toList();
                int wrong = shown.wrong(changed, "2") + shown.wrong(others, "1");
                return new RouteTimes(readable, deleted, recreated, revoked, allowed, wrong);
            }
        }
    }

    /** Looks at what a contestant shows, again and again. */
    private record Shown(RouteContestant contestant) {

        /** Returns when the last route shows {@code value}, in seconds from {@code begun}; infinity if one never does. */
        double until(List<Route> routes, String value, long begun) throws InterruptedException {
            for (Route route : routes) {
                while (!contestant.shown(route).equals(value)) {
                    if (System.nanoTime() - begun > GIVE_UP.toNanos()) {
                        return Double.POSITIVE_INFINITY;
                    }
                    Thread.sleep(5);
                }
            }
            return seconds(begun);
        }

        /** Returns how many routes do not show {@code value}, once all do or the time is over. */
        int wrong(List<Route> routes, String value) throws InterruptedException {
            double unused = until(routes, value, System.nanoTime());
            return (int) routes.stream()
                    .filter(route -> !contestant.shown(route).equals(value))
                    .count();
        }
    }

    private static double seconds(long begun) {
        return (System.nanoTime() - begun) * 1e-9;
    }

    /** Allows the router's account to get the Secret of one route. */
    private static Role role(Route route) {
        return new RoleBuilder()
                .withNewMetadata()
                .withNamespace(route.namespace())
                .withName(route.name())
                .endMetadata()
                .addNewRule()
                .withApiGroups("")
                .withResources("secrets")
                .withResourceNames(route.name())
                .withVerbs("get")
                .endRule()
                .build();
    }

    private static RoleBinding binding(Route route) {
        return new RoleBindingBuilder()
                .withNewMetadata()
                .withNamespace(route.namespace())
                .withName(route.name())
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "Role", route.name())
                .addNewSubject("", "ServiceAccount", ACCOUNT, route.namespace())
                .build();
    }

    private static Secret secret(Route route, String value) {
        return Secrets.of(ObjectKey.of(route.namespace(), route.name()), value);
    }

    private static void put(InMemoryCluster cluster, Route route, String value) {
        cluster.create(secret(route, value));
    }

    private static KubernetesClient client(EmbeddedApiServer server) {
        return new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(server.kubeconfigFor("router", "system:masters")))
                .withHttpClientFactory(HttpClients.vertx())
                .build();
    }

    private static String header(int routes) {
        return String.format(
                        Locale.ROOT,
                        "| each answer after | %,d routes, %d of them changed | runs | all readable, s | deleted, s | created again, s"
                                + " | right lost, s | right regained, s | routes with a wrong state |%n",
                        routes,
                        routes / 10)
                + "|" + "---|".repeat(9) + "\n";
    }

    private static String row(RoutesBy by, Duration delay, List<RouteTimes> found, int routes) {
        boolean computed = by == RoutesBy.IN_SEQUENCE;
        double[] readable = found.stream().mapToDouble(RouteTimes::readable).toArray();
        String all = computed
                ? String.format(Locale.ROOT, "%,.0f, computed from %d", readable[0] * routes / IN_SEQUENCE, IN_SEQUENCE)
                : spread(readable);
        return "| "
                + String.join(
                        " | ",
                        delay.toMillis() + " ms",
                        by.label,
                        "" + found.size(),
                        all,
                        spread(found.stream().mapToDouble(RouteTimes::deleted).toArray()),
                        spread(found.stream().mapToDouble(RouteTimes::recreated).toArray()),
                        spread(found.stream().mapToDouble(RouteTimes::revoked).toArray()),
                        spread(found.stream().mapToDouble(RouteTimes::allowed).toArray()),
                        "" + found.stream().mapToInt(RouteTimes::wrong).max().orElse(0))
                + " |";
    }

    private static String spread(double[] seconds) {
        double[] sorted = seconds.clone();
        Arrays.sort(sorted);
        double least = sorted[0];
        double most = sorted[sorted.length - 1];
        if (Double.isNaN(most)) {
            return "not asked";
        }
        if (Double.isInfinite(most)) {
            return "over " + GIVE_UP.toSeconds();
        }
        return sorted.length == 1
                ? String.format(Locale.ROOT, "%.1f", most)
                : String.format(Locale.ROOT, "%.1f to %.1f", least, most);
    }
}
