package dev.podcache.cli.observe;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;

/**
 * An agent that only looks: follows a Node and the pods of it, keeps the pods registered, and reads what they refer to
 * once a period. Writes nothing to the cluster. All of it goes over one {@link Fabric8ApiServer}. Closing the agent
 * ends everything it started, in reverse order; the API server stays open.
 */
public final class Observer implements AutoCloseable {

    private final ObserverOptions options;
    private final WatchNews news;
    private final Watched watched;
    private final ReadCounter counter;
    private final Sightings sightings;
    private final NodeLister node;
    private final Podcache cache;
    private final PeriodicReads sync;
    private final AssignedPods assigned;
    private final Reflector<Pod> reflector;
    private final Progress progress;

    /**
     * An agent that follows its Node and does nothing else yet.
     *
     * @param server used for everything, not closed
     */
    public Observer(Fabric8ApiServer server, ObserverOptions options, Audience audience) {
        this.options = options;
        this.news = new WatchNews(audience.account()::tell);
        this.watched = new Watched(news);
        this.counter = new ReadCounter(watched);
        this.sightings = new Sightings(audience.sightings());
        Recovery recovery = new Recovery(server.timekeeper());
        this.node = NodeLister.following(
                options.node(), server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + options.node()), recovery);
        this.cache = options.caching()
                .applyTo(Podcache.builder(server))
                .nodeLister(node)
                .metrics(counter)
                .build();
        this.sync = new PeriodicReads((kind, key) -> read(cache, kind, key), sightings, counter, watched);
        this.assigned = new AssignedPods(registry(cache, sync), audience.account());
        this.reflector = new Reflector<>(
                server.listerWatcher(ObjectKind.POD, "", NodePorts.podsOf(options.node())), assigned, recovery);
        this.progress = new Progress(audience.account(), counter, audience.requestsAtServer());
    }

    /** Begins to work. Returns at once. */
    public void start() {
        reflector.start();
        Duration syncPeriod = options.caching().syncFrequency();
        sync.start(assigned::pods, syncPeriod);
        // between two syncs, so that each line has whole ones
        Duration halfway = syncPeriod.dividedBy(2);
        progress.start(options.progressPeriod().minus(halfway), options.progressPeriod());
    }

    public ChangeDetectionStrategy strategy() {
        return options.caching().strategy();
    }

    public Counts counts() {
        return counter.counts();
    }

    public Watched.Tally watches() {
        return watched.tally();
    }

    /** How many pods have readers that wait. */
    public int podsKeptWaiting() {
        return sync.busy();
    }

    /** Whether everything that the registered pods refer to was read at least once, with whatever outcome. */
    public boolean hasReadAll() {
        // pods are registered and read one by one: until the last of them is there, all that is
        // read may be all of a few
        if (!assigned.isListed()) {
            return false;
        }
        int objects = inventory().objects();
        return objects > 0 && sightings.size() >= objects;
    }

    /** Reads an object beyond the syncs, uncounted, and tells what is news of it. */
    public void look(ObjectKind<?> kind, ObjectKey key) {
        sync.look(kind, key);
    }

    public AssignedPods assigned() {
        return assigned;
    }

    public Inventory inventory() {
        return Inventory.of(assigned.pods());
    }

    /** Nothing is read or told from now on, so that {@link #counts} stand still. Idempotent. */
    public void stop() {
        reflector.close();
        sync.close();
        progress.close();
        news.close();
    }

    @Override
    public void close() {
        stop();
        cache.close();
        node.close();
    }

    private static HasMetadata read(Podcache cache, ObjectKind<?> kind, ObjectKey key) {
        return kind.equals(ObjectKind.SECRET)
                ? cache.secrets().getObject(key.namespace(), key.name())
                : cache.configMaps().getObject(key.namespace(), key.name());
    }

    private static PodRegistry registry(Podcache cache, PeriodicReads sync) {
        return new PodRegistry() {
            @Override
            public void registerPod(Pod pod) {
                cache.registerPod(pod);
                sync.soon(pod);
            }

            @Override
            public void unregisterPod(Pod pod) {
                cache.unregisterPod(pod);
            }
        };
    }
}
