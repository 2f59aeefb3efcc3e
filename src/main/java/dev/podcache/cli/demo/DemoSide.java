package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.observe.CacheReports;
import dev.podcache.cli.observe.NodeObserver;
import dev.podcache.cli.observe.ReadCounts;
import dev.podcache.cli.observe.Summary;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.kubelet.agent.ObjectCaching;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * One strategy of the demo: an agent with its own API server, so that its requests are counted separately. All sides
 * share the cluster, and so the workload and the changes.
 */
final class DemoSide implements AutoCloseable {

    private final EmbeddedApiServer server;
    private final KubernetesClient client;
    private final Fabric8ApiServer apiServer;
    private final EventWriter events;
    private final ChangeTimer changes;
    private final NodeObserver agent;
    private Faults.@Nullable Switched failure;
    private ReadCounts beforeFailure = ReadCounts.NONE;
    private ImmutableMap<String, Object> outage = ImmutableMap.of();
    private int connectionsAtEnd;
    private int watchesAtEnd;
    private SortedMap<String, Integer> requestsAtEnd = ImmutableSortedMap.of();

    /** Creates a side whose agent does not work until started. */
    DemoSide(DemoCluster cluster, ObjectCaching caching, EventWriter events) {
        this.events = events;
        this.server = EmbeddedApiServer.start(cluster.cluster());
        this.client = DemoCluster.client(server.url());
        this.apiServer = Fabric8ApiServer.of(client);
        this.changes = new ChangeTimer(events);
        this.agent = new NodeObserver(apiServer, DemoCluster.NODE, caching, new CacheReports(events, changes));
    }

    void start() {
        agent.start();
        changes.start(agent);
    }

    EmbeddedApiServer server() {
        return server;
    }

    NodeObserver agent() {
        return agent;
    }

    ChangeTimer changes() {
        return changes;
    }

    /** Cuts all connections to the server, and refuses new ones. */
    void fail() {
        changes.giveUp();
        beforeFailure = agent.counts();
        failure = server.faults().refuse(RequestPattern.any());
        server.faults().resetWatches(RequestPattern.any());
    }

    /** Ends the failure and reports the reads during it. Without effect if the server did not fail. */
    void recover() {
        if (failure == null) {
            return;
        }
        ReadCounts reads = agent.counts().since(beforeFailure);
        int waiting = agent.podsKeptWaiting();
        outage = ImmutableMap.of(
                "reads", reads.reads(),
                "hits", reads.results().count("hits"),
                "staleServed", reads.results().count("staleServed"),
                "failed", reads.results().count("failed"),
                "podsKeptWaiting", waiting);
        failure.close();
        failure = null;
        events.write(
                new ProgramEvent("outage", "reads " + reads.text() + ", pods whose reads wait " + waiting, outage));
    }

    /** Stops the agent: nothing is read, counted or reported any more. */
    void stop() {
        connectionsAtEnd = server.connections();
        watchesAtEnd = server.openWatches();
        changes.close();
        agent.stop();
        // read once: a request that was under way may still reach the server
        requestsAtEnd = server.requests().snapshot();
    }

    private int total() {
        return requestsAtEnd.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns the column of this side in the comparison of the strategies, after {@link #stop}. */
    ImmutableMap<String, Object> facts() {
        return ImmutableMap.<String, Object>builder()
                .put("strategy", agent.strategy().name())
                .put("reads", agent.counts().reads())
                .put("requestsAtServer", total())
                .put("requestsByVerb", byVerb(requestsAtEnd))
                .put("connections", connectionsAtEnd)
                .put("openWatches", watchesAtEnd)
                .put("seenAfterSeconds", changes.seenAfter())
                .put("outage", outage)
                .buildOrThrow();
    }

    /** Returns the summary of this side, after {@link #stop}. */
    Summary summary() {
        return agent.summary()
                .append(String.format(Locale.ROOT, "%n  %-18s %d at the API server", "requests", total()))
                .with("requestsAtServer", total())
                .with("requestsByKind", requestsAtEnd)
                .with("seenAfterSeconds", changes.seenAfter());
    }

    /** Returns the sums of {@code counts}, whose keys begin with a verb. */
    static ImmutableSortedMap<String, Integer> byVerb(Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .collect(ImmutableSortedMap.toImmutableSortedMap(
                        String::compareTo,
                        count -> count.getKey().substring(0, count.getKey().indexOf(' ')),
                        Map.Entry::getValue,
                        Integer::sum));
    }

    @Override
    public void close() {
        changes.close();
        agent.close();
        apiServer.close();
        client.close();
        server.close();
    }
}
