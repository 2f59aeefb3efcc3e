package dev.podcache.controlplane.ttl;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterListener;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.RequestSlots;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ResourceVersions;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the agents of all nodes how long they may use a Secret or ConfigMap before they read it again: writes the
 * annotation {@value dev.podcache.node.NodeTtlSource#ANNOTATION} of each Node, by the number of nodes, see {@link
 * TtlLadder}. A node gets a new value when it is added or changes, so at the latest with the next report of its status.
 * Thread-safe; no method blocks.
 */
public final class TtlController {

    private static final Logger log = LoggerFactory.getLogger(TtlController.class);
    private static final int REQUESTS = 5;
    private static final Retries RETRIES = new Retries(Duration.ofMillis(5), Duration.ofSeconds(1_000));
    private static final double NO_JITTER = 0;

    private final ClusterCache cache;
    private final ClusterWrites writes;
    private final RequestSlots slots;

    // used by tasks of the cache's loop only, like all state
    private final Map<String, Integer> writing = new HashMap<>(); // failures in a row, by node
    private TtlLadder ladder = TtlLadder.EMPTY;
    private String ttl = "0";
    private boolean listed; // before, the number of nodes is not known

    /**
     * Creates a controller that is not started.
     *
     * @param cache not closed; no sink of it was called yet
     * @param writes the requests of this controller
     */
    public TtlController(ClusterCache cache, ClusterWrites writes) {
        this.cache = cache;
        this.writes = writes;
        this.slots = new RequestSlots(cache.loop(), REQUESTS);
    }

    /**
     * Follows the Nodes of the cache from now on. Call it once, before a sink of the cache is called. The controller
     * stops when the cache's loop is closed.
     */
    public void start() {
        cache.addListener(new NodeCounter());
        cache.whenListed(() -> {
            listed = true;
            cache.nodes().forEach(this::check);
        });
    }

    private final class NodeCounter implements ClusterListener {

        @Override
        public void nodeAdded(ObservedNode node) {
            move(ladder.nodeAdded());
            check(node);
        }

        @Override
        public void nodeChanged(ObservedNode before, ObservedNode now) {
            check(now);
        }

        @Override
        public void nodeDeleted(ObservedNode last) {
            move(ladder.nodeRemoved());
        }
    }

    private void move(TtlLadder next) {
        if (next.seconds() != ladder.seconds()) {
            log.info("{}; a Node gets this TTL when it changes", next);
            ttl = String.valueOf(next.seconds());
        }
        ladder = next;
    }

    private void check(ObservedNode node) {
        if (listed && !isRight(node.ttl()) && writing.putIfAbsent(node.name(), 0) == null) {
            write(node.name());
        }
    }

    private boolean isRight(@Nullable String annotation) {
        if (annotation == null) {
            return false;
        }
        if (annotation.equals(ttl)) {
            return true;
        }
        try {
            return Long.parseLong(annotation) == ladder.seconds();
        } catch (NumberFormatException noNumber) {
            return false;
        }
    }

    private void write(String node) {
        String value = ttl;
        ObservedNode before = cache.node(node);
        CompletableFuture<Node> answer = slots.send(() -> writes.annotate(node, NodeTtlSource.ANNOTATION, value));
        cache.loop().whenDone(answer, (written, failure) -> {
            if (failure == null || ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND) {
                writing.remove(node);
                ObservedNode now = cache.node(node);
                // changes that came during the write were not checked, and it may be another Node of that name
                if (now != null
                        && (!value.equals(ttl)
                                || before == null
                                || !before.uid().equals(now.uid())
                                || isOlder(written, now))) {
                    check(now);
                }
            } else {
                retry(node, failure);
            }
        });
    }

    private static boolean isOlder(@Nullable Node written, ObservedNode now) {
        return written != null
                && ResourceVersions.isOlder(written.getMetadata().getResourceVersion(), now.resourceVersion());
    }

    private void retry(String node, Throwable failure) {
        int failures = writing.merge(node, 1, Integer::sum);
        Duration pause = RETRIES.pause(failures, NO_JITTER, failure);
        log.warn(
                "the TTL of Node {} could not be written: {}; retrying in {} ms",
                node,
                ApiServerException.describe(failure),
                pause.toMillis());
        cache.loop().schedule(pause, () -> {
            if (cache.node(node) == null) {
                writing.remove(node);
            } else {
                write(node);
            }
        });
    }
}
