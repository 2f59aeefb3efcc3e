package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.cli.output.Account;
import dev.podcache.kubelet.agent.Caches;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeAgentOptions;
import dev.podcache.kubelet.podsync.PodListener;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells what a node agent does: of its Node, its pods, the objects that change and the watches
 * on them, and how much is read.
 */
public final class AgentAccount implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(AgentAccount.class);
    private static final long LOOK_MILLIS = 200;
    private static final long TIDY_SECONDS = 60;
    private static final Duration PROGRESS = Duration.ofMinutes(1);

    private final Account account;
    private final NodeAgentOptions options;
    private final NodeNews nodeNews;
    private final PodNews podNews;
    private final WatchNews watchNews;
    private final Watched watched;
    private final ReadCounter counter;
    private final Sightings sightings;
    private final Progress progress;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(new ThreadFactoryBuilder()
            .setNameFormat("agent-news")
            .setDaemon(true)
            .build());
    private @Nullable NodeAgent followed;

    public AgentAccount(Account account, NodeAgentOptions options) {
        this.account = account;
        this.options = options;
        Duration lease = Duration.ofSeconds(options.configuration().heartbeats().leaseSeconds());
        this.nodeNews = new NodeNews(account, options.node(), lease);
        this.podNews = new PodNews(account);
        this.watchNews = new WatchNews(account::tell);
        this.watched = new Watched(watchNews);
        this.counter = new ReadCounter(watched);
        this.sightings = new Sightings(sighting -> account.tell(sighting.event("", ImmutableMap.of())));
        this.progress = new Progress(account, counter, Progress.UNKNOWN);
    }

    /** To be told of pods. */
    public PodListener pods() {
        return podNews;
    }

    /** To be told of the caches. */
    public PodcacheMetrics metrics() {
        return counter;
    }

    /** The same caches, of which every read is told here. */
    public Caches seen(Caches caches) {
        return new Caches(
                new SeenManager<>(caches.secrets(), ObjectKind.SECRET, counter, sightings),
                new SeenManager<>(caches.configMaps(), ObjectKind.CONFIG_MAP, counter, sightings),
                caches.closing());
    }

    /** Looks at {@code agent} now and then, until closed. */
    public void follow(NodeAgent agent) {
        followed = agent;
        progress.start(PROGRESS, PROGRESS);
        timer.scheduleWithFixedDelay(() -> look(agent), 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
        timer.scheduleWithFixedDelay(() -> forget(agent), TIDY_SECONDS, TIDY_SECONDS, TimeUnit.SECONDS);
    }

    /** Of objects that no pod refers to any more, nothing is told either. */
    private void forget(NodeAgent agent) {
        try {
            forgetAllBut(agent.pods());
        } catch (RuntimeException e) {
            log.error("forgetting objects failed; it is tried again", e);
        }
    }

    void forgetAllBut(Iterable<Pod> pods) {
        Referenced.by(pods).retainIn(sightings, watched);
    }

    /** Of how many objects there is something to remember. */
    int remembered() {
        return sightings.size() + watched.size();
    }

    private void look(NodeAgent agent) {
        try {
            nodeNews.look(agent.status(), agent.node(), agent.sinceRenewal());
        } catch (RuntimeException e) {
            // thrown on, it would silently end the looking
            log.error("looking at the node failed; the next look comes all the same", e);
        }
    }

    /** Tells what it all came to. */
    public void sumUp() {
        Inventory last = Inventory.of(followed == null ? ImmutableList.of() : followed.pods());
        close();
        account.block(new Summary(options.configuration().caching().strategy(), last, counter.counts())
                .withWatches(watched.tally())
                .event());
    }

    /** Tells the rest and ends. Idempotent. */
    @Override
    public void close() {
        timer.shutdownNow();
        progress.close();
        watchNews.close();
    }
}
