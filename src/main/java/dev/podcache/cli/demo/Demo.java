package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.AgentOptions;
import dev.podcache.cli.demo.DemoScript.Act;
import dev.podcache.cli.observe.PageOptions;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.OutputOptions;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** The demo: sets it up, plays its script in time, and prints the summary. */
final class Demo {

    private static final Duration DEFAULT_LENGTH = Duration.ofSeconds(60);
    private static final Duration MAX_SCRIPT = Duration.ofSeconds(60);

    /** A sync makes 55 reads: so strategy GET stays below the 50 requests a second that a client may make. */
    private static final Duration SYNC = Duration.ofMillis(1250);

    /** A shorter demo has no time for a node of its own. */
    private static final Duration MIN_WITH_NODE = Duration.ofSeconds(12);

    private static final Duration NODE_STEP_TIMEOUT = Duration.ofSeconds(3);
    private static final double POLL_SECONDS = 0.1;

    /**
     * What is played.
     *
     * @param shown the side whose events are written
     * @param agent whose page is served, if it is
     */
    private record Show(
            DemoCluster cluster,
            DemoSide shown,
            ImmutableList<DemoSide> sides,
            Optional<DemoAgent> agent,
            EventWriter events) {}

    private final Console console;
    private final PageOptions page;
    private final OutputOptions output;
    private final ChangeDetectionStrategy strategy;
    private final Duration length;
    private final boolean withNode;
    private final double scriptEnd;

    Demo(Console console, AgentOptions options, PageOptions page, OutputOptions output) {
        this.console = console;
        this.page = page;
        this.output = output;
        this.strategy = options.strategy == null ? ChangeDetectionStrategy.WATCH : options.strategy;
        this.length = options.duration == null ? DEFAULT_LENGTH : options.duration;
        this.withNode = length.compareTo(MIN_WITH_NODE) >= 0;
        this.scriptEnd = seconds(withNode ? length.minus(DemoNode.LENGTH) : length);
    }

    /** Plays the demo and returns the exit code. */
    int run() {
        console.logging().accept(output.level(Level.ERROR));
        // short enough for something to happen within the demo
        int ttlSeconds = (int) Math.max(1, Math.min(3, scriptEnd / 20));
        try (EventWriter events = EventWriter.to(console.out(), output.format);
                DemoCluster cluster = DemoCluster.start(ttlSeconds);
                DemoSide get = side(cluster, ChangeDetectionStrategy.GET, events);
                DemoSide cache = side(cluster, ChangeDetectionStrategy.CACHE, events);
                DemoSide watch = side(cluster, ChangeDetectionStrategy.WATCH, events);
                @Nullable DemoAgent agent = page.isWanted() ? new DemoAgent(cluster, strategy, SYNC) : null) {
            DemoSide shown = switch (strategy) {
                case GET -> get;
                case CACHE -> cache;
                case WATCH -> watch;
            };
            Show show =
                    new Show(cluster, shown, ImmutableList.of(get, cache, watch), Optional.ofNullable(agent), events);
            events.begin();
            introduce(events, shown.server().url(), ttlSeconds);
            if (agent == null) {
                play(show);
            } else {
                page.serveDuring(() -> play(show), agent.view(), events);
            }
        }
        return 0;
    }

    /** Plays everything, and prints the summary. */
    private void play(Show show) {
        playScript(show);
        show.sides.forEach(DemoSide::stop);
        if (withNode && !console.stop().isDone()) {
            new DemoNode(show.cluster, show.events, console, NODE_STEP_TIMEOUT).play();
        }
        ImmutableList<ImmutableMap<String, Object>> facts =
                show.sides.stream().map(DemoSide::facts).collect(ImmutableList.toImmutableList());
        show.events.block(show.shown
                .summary()
                .with("comparison", facts)
                .append(new StrategyTable(facts).text())
                .event());
    }

    /** Creates a side; only the side of the chosen strategy writes events. */
    private DemoSide side(DemoCluster cluster, ChangeDetectionStrategy side, EventWriter events) {
        return new DemoSide(
                cluster, ObjectCaching.usual(side, SYNC), side == strategy ? events : EventWriter.discarding());
    }

    private void introduce(EventWriter events, String url, int ttlSeconds) {
        String kubectl = "kubectl --server=" + url + " get secrets -A";
        String text = """
                Podcache demo: an agent on node %s caches the Secrets and ConfigMaps that the node's pods refer to.
                Every %s ms it reads everything that each pod refers to. The API server is in this process:
                  %s
                Shown is strategy %s. All strategies (GET: every read is a request; CACHE: objects are fresh for a TTL
                of %s s; WATCH: the API server sends changes) do the same, each with its own API server.
                Ends after %s s, or with Ctrl-C, with a summary.""".formatted(DemoCluster.NODE, SYNC.toMillis(), kubectl, strategy, ttlSeconds, seconds(length));
        ImmutableMap<String, Object> facts = ImmutableMap.of(
                "node",
                DemoCluster.NODE,
                "strategy",
                strategy.name(),
                "server",
                url,
                "ttlSeconds",
                ttlSeconds,
                "endsAfterSeconds",
                seconds(length),
                "kubectl",
                kubectl);
        events.block(new ProgramEvent("started", text, facts));
    }

    /** Plays the script, then waits for its end. Returns early if the user ends the demo. */
    private void playScript(Show show) {
        EventWriter events = show.events;
        DemoScript script = new DemoScript(show.cluster, show.sides, events);
        events.heading(
                "The agent starts: it registers the pods of its node and reads their objects for the first time.");
        show.sides.forEach(DemoSide::start);
        show.agent.ifPresent(DemoAgent::start);
        // the acts mean nothing before; a cold JVM may take some seconds
        double latest = Math.min(10, scriptEnd / 2);
        while (events.seconds() < latest
                && !show.sides.stream().allMatch(side -> side.agent().hasReadAll())
                && awaitTime(events.seconds() + 0.05, show)) {
            // waits
        }
        double end = Math.min(scriptEnd, seconds(MAX_SCRIPT));
        double before = 0;
        for (Act act : Act.values()) {
            // of the time that is left, so that late acts do not come at once on a slow machine
            double now = events.seconds();
            double begin = now + (end - now) * (act.begin - before) / (1 - before);
            if (!awaitTime(begin, show)) {
                return;
            }
            before = act.begin;
            script.play(act);
            show.agent.ifPresent(agent -> agent.play(act));
        }
        awaitTime(scriptEnd, show);
    }

    /** Waits until a time in seconds. Returns false if the user ends the demo before. */
    private boolean awaitTime(double time, Show show) {
        EventWriter events = show.events;
        for (double left = time - events.seconds(); left > 0; left = time - events.seconds()) {
            show.cluster.removeDeleted(show.shown.agent().pods());
            if (!console.await(Duration.ofNanos((long) (Math.min(left, POLL_SECONDS) * 1e9) + 1), events)) {
                return false;
            }
        }
        return true;
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }
}
