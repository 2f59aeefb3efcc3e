package dev.podcache.agent;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Reflector;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A small kubelet's worth of an agent: follows the pods of its node, keeps them registered, and reads what they refer to once a
 * period. Closing it ends everything it started, in reverse order; the API server stays open.
 */
final class NodeAgent implements AutoCloseable {

    private final ReadCounter counter = new ReadCounter();
    private final NodeAgentOptions options;
    private final Podcache cache;
    private final AssignedPods assigned;
    private final Reflector<Pod> reflector;
    private final PodSync sync;
    private final Progress progress;

    /**
     * An agent that does nothing yet.
     *
     * @param server used for everything, not closed
     * @throws CommandFailure if the strategy is not available
     */
    NodeAgent(Fabric8ApiServer server, NodeAgentOptions options, Audience audience) {
        this.options = options;
        this.cache = cache(server, options);
        this.assigned = new AssignedPods(registry(cache), audience.account());
        this.reflector = new Reflector<>(
                server.listerWatcher(ObjectKind.POD, "", podsOf(options.node())),
                assigned,
                server.timekeeper(),
                () -> ThreadLocalRandom.current().nextDouble());
        this.sync = new PodSync(assigned::pods, this::read, new Sightings(audience.sightings()), counter);
        this.progress = new Progress(audience.account(), counter, audience.requestsAtServer());
    }

    /** Begins to work. Returns at once. */
    void start() {
        reflector.start();
        sync.start(options.syncPeriod());
        progress.start(options.progressPeriod());
    }

    /** The field selector that chooses the pods of a node. */
    static String podsOf(String node) {
        return "spec.nodeName=" + node;
    }

    ChangeDetectionStrategy strategy() {
        return options.strategy();
    }

    Counts counts() {
        return counter.counts();
    }

    AssignedPods assigned() {
        return assigned;
    }

    Inventory inventory() {
        return Inventory.of(assigned.pods());
    }

    /** Ends the readers, so that {@link #counts} stand still. Idempotent. */
    void stopReading() {
        sync.close();
        progress.close();
    }

    @Override
    public void close() {
        reflector.close();
        stopReading();
        cache.close();
    }

    private Podcache cache(Fabric8ApiServer server, NodeAgentOptions wanted) {
        try {
            return Podcache.builder(server)
                    .node(wanted.node())
                    .strategy(wanted.strategy())
                    .metrics(counter)
                    .build();
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()), e);
        }
    }

    private HasMetadata read(ObjectKind<?> kind, ObjectKey key) {
        return kind.equals(ObjectKind.SECRET)
                ? cache.secrets().getObject(key.namespace(), key.name())
                : cache.configMaps().getObject(key.namespace(), key.name());
    }

    private static PodRegistry registry(Podcache cache) {
        return new PodRegistry() {
            @Override
            public void registerPod(Pod pod) {
                cache.registerPod(pod);
            }

            @Override
            public void unregisterPod(Pod pod) {
                cache.unregisterPod(pod);
            }
        };
    }
}
