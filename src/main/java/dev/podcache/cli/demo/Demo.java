package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.demo.DemoSchedule.Act;
import dev.podcache.cli.observe.Comparison;
import dev.podcache.cli.observe.ObserverOptions;
import dev.podcache.cli.observe.Summary;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.Event;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeTtlSource;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.slf4j.event.Level;

/** The demo from its first line to its last. */
public final class Demo {

    private static final Duration USUAL_LENGTH = Duration.ofSeconds(60);
    /**
     * The workload has 55 reads in a sync: so strategy GET stays below the 50 requests a second that a client may make.
     */
    private static final Duration SYNC = Duration.ofMillis(1250);

    /** A demo that is shorter has no time for a node of its own. */
    private static final Duration SHORT = Duration.ofSeconds(12);

    /** With a step of that node: the demo is to end in time. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final Duration LOOK = Duration.ofMillis(50);
    private static final int PROGRESS_LINES = 20;
    private static final int LEAST_SYNCS = 2;

    private final Console console;
    private final ChangeDetectionStrategy strategy;
    private final Duration length;
    private final boolean withNode;
    private final DemoSchedule schedule;
    private final OutputOptions output;
    private final Account account;

    public Demo(Console console, AgentOptions options, OutputOptions output) {
        this.console = console;
        this.strategy = options.strategy == null ? ChangeDetectionStrategy.WATCH : options.strategy;
        this.length = options.duration == null ? USUAL_LENGTH : options.duration;
        this.withNode = length.compareTo(SHORT) >= 0;
        this.schedule = DemoSchedule.of(withNode ? length.minus(DemoNode.LENGTH) : length);
        this.output = output;
        this.account = Account.unhurried(console.out(), output.format, System::nanoTime);
    }

    /** Plays it; returns the exit code. To be called once. */
    public int run() {
        console.logging().accept(output.verbose ? Level.DEBUG : Level.ERROR);
        try (account) {
            playAll();
        }
        return 0;
    }

    private void playAll() {
        try (DemoCluster cluster = DemoCluster.start(schedule.ttlSeconds());
                DemoSide get = side(cluster, ChangeDetectionStrategy.GET);
                DemoSide cache = side(cluster, ChangeDetectionStrategy.CACHE);
                DemoSide watch = side(cluster, ChangeDetectionStrategy.WATCH)) {
            ImmutableList<DemoSide> sides = ImmutableList.of(get, cache, watch);
            DemoSide told = switch (strategy) {
                case GET -> get;
                case CACHE -> cache;
                case WATCH -> watch;
            };
            try (DemoKubelet kubelet = new DemoKubelet(told.agent().assigned()::pods, cluster.cluster())) {
                account.begin();
                introduce(told);
                account.heading(
                        "The agent starts: it registers the pods of its node, and their objects are read for the"
                                + " first time.");
                sides.forEach(side -> side.agent().start());
                kubelet.start();
                play(new DemoScript(cluster, told, sides), told, sides);
                sides.forEach(DemoSide::stop);
                if (withNode && !console.stop().isDone()) {
                    new DemoNode(cluster, account, console, PATIENCE).play();
                }
                account.block(summary(told, sides));
            }
        }
    }

    private DemoSide side(DemoCluster cluster, ChangeDetectionStrategy of) {
        Account audience = of == strategy ? account : Account.silent(System::nanoTime);
        ObserverOptions options =
                new ObserverOptions(DemoCluster.NODE, ObjectCaching.usual(of, SYNC), progressPeriod());
        return new DemoSide(cluster, options, audience);
    }

    /** So many syncs that there are at most some twenty lines. */
    private Duration progressPeriod() {
        long syncs = length.dividedBy(PROGRESS_LINES).dividedBy(SYNC) + 1;
        return SYNC.multipliedBy(Math.max(LEAST_SYNCS, syncs));
    }

    private static Event summary(DemoSide told, ImmutableList<DemoSide> sides) {
        Comparison comparison =
                new Comparison(sides.stream().map(DemoSide::figures).toList());
        return new Summary(
                        told.strategy(), told.agent().inventory(), told.agent().counts())
                .withWatches(told.agent().watches())
                .withChanges(told.changes().seenAfter())
                .withRequests(told.server().requests(), told.server().requestsByKind())
                .withComparison(comparison)
                .event();
    }

    private void introduce(DemoSide told) {
        String url = told.server().url();
        String kubectl = "kubectl --server=" + url + " get secrets -A";
        String text = String.join(
                System.lineSeparator(),
                "Podcache demo: an agent on node " + DemoCluster.NODE
                        + " caches the Secrets and ConfigMaps that the node's pods refer to.",
                "",
                "  strategy    " + strategyText(),
                "  readers     read everything that each pod refers to, every " + seconds(SYNC)
                        + " s: 44 reads a second.",
                "              hits: fresh in memory; stale: from memory, but may be old; waited: for a request.",
                "  API server  in this process, at " + url + ". Try it in another terminal:",
                "              " + kubectl,
                "  compared    " + others()
                        + " do the same beside it, each on an API server of its own; a table at the end.",
                "  the end     comes by itself after " + seconds(length)
                        + " s, with a summary. Ctrl-C brings it earlier.");
        account.block(new Event(
                "started",
                text,
                ImmutableMap.of(
                        "node",
                        DemoCluster.NODE,
                        "strategy",
                        strategy.name(),
                        "server",
                        url,
                        "ttlSeconds",
                        schedule.ttlSeconds(),
                        "endsAfterSeconds",
                        BigDecimal.valueOf(length.toMillis(), 3),
                        "kubectl",
                        kubectl)));
    }

    private String others() {
        return Arrays.stream(ChangeDetectionStrategy.values())
                .filter(each -> each != strategy)
                .map(ChangeDetectionStrategy::name)
                .collect(Collectors.joining(" and "));
    }

    private static String seconds(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString();
    }

    private String strategyText() {
        return switch (strategy) {
            case GET -> "GET. Nothing is cached: every read is a request.";
            case CACHE ->
                "CACHE. Node " + DemoCluster.NODE + " is annotated " + NodeTtlSource.ANNOTATION + "="
                        + schedule.ttlSeconds() + ": so many seconds an object counts as fresh.";
            case WATCH -> "WATCH. Each object is listed and watched by its name: the API server tells what changes.";
        };
    }

    /** Plays act after act, then waits for the end; returns early if the user wants so. */
    private void play(DemoScript script, DemoSide told, ImmutableList<DemoSide> sides) {
        awaitFirstReads(sides);
        account.tell(told.connections());
        double began = account.seconds();
        DemoSchedule left = schedule.shortenedBy(Duration.ofMillis((long) (began * 1000)));
        for (Act act : Act.values()) {
            if (!awaitTime(began + left.begin(act).toMillis() / 1000.0)) {
                return;
            }
            script.play(act);
        }
        awaitTime((withNode ? length.minus(DemoNode.LENGTH) : length).toMillis() / 1000.0);
    }

    /** A cold JVM may take a second or two until the agents have read everything once; the acts mean nothing before. */
    private void awaitFirstReads(ImmutableList<DemoSide> sides) {
        double latest = Math.min(account.seconds() + 10, length.toMillis() / 2000.0);
        boolean readAll = false;
        while (!readAll && account.seconds() < latest && console.await(LOOK, account)) {
            readAll = sides.stream().allMatch(side -> side.agent().hasReadAll());
        }
    }

    /** Whether that time, in seconds of the account, came before the user wanted an end. */
    private boolean awaitTime(double at) {
        double left = at - account.seconds();
        return left <= 0 || console.await(Duration.ofNanos((long) (left * 1e9)), account);
    }
}
