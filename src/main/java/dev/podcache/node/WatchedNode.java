package dev.podcache.node;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Node;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link NodeLister} that watches the Node. */
final class WatchedNode implements NodeLister {

    private static final Logger log = LoggerFactory.getLogger(NodeLister.class);

    private final String name;
    private final Reflector<Node> reflector;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile Known known;

    private record Known(@Nullable Node node, @Nullable String problem) {}

    WatchedNode(String name, ListerWatcher<Node> own, Recovery recovery) {
        this.name = name;
        this.known = new Known(null, "Node " + name + " has not been read yet");
        this.reflector = new Reflector<>(own, new NodeSink(), recovery);
    }

    WatchedNode start() {
        reflector.start();
        return this;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Optional<Node> get() {
        return Optional.ofNullable(known.node);
    }

    @Override
    public Optional<String> problem() {
        return Optional.ofNullable(known.problem);
    }

    @Override
    public void addListener(Runnable listener) {
        listeners.add(listener);
    }

    @Override
    public void removeListener(Runnable listener) {
        listeners.remove(listener);
    }

    @Override
    public void close() {
        reflector.close();
    }

    /** Updates {@link #known}; called by one thread at a time. */
    private final class NodeSink implements ReflectorSink<Node> {

        private boolean failing;

        @Override
        public void replace(List<Fetched<Node>> items, String resourceVersion) {
            Node found = null;
            for (Fetched<Node> item : items) {
                found = isOwn(item) ? item.object() : found;
            }
            update(found);
        }

        @Override
        public void upsert(Fetched<Node> fetched) {
            if (isOwn(fetched)) {
                update(fetched.object());
            }
        }

        @Override
        public void delete(Fetched<Node> last) {
            if (isOwn(last)) {
                update(null);
            }
        }

        @Override
        public void connected() {
            if (failing) {
                failing = false;
                log.info("watch of Node {} was restored", name);
            }
            update(known.node);
        }

        @Override
        public void disconnected(ApiServerException cause) {
            // after 410 a list follows at once, so no warning
            if (!failing && cause.reason() != FailureReason.EXPIRED) {
                failing = true;
                log.warn("watch of Node {} failed; retrying: {}", name, cause.getMessage());
            }
            change(new Known(known.node, "watch of Node " + name + " failed: " + cause.getMessage()));
        }

        private boolean isOwn(Fetched<Node> fetched) {
            return name.equals(fetched.object().getMetadata().getName());
        }

        private void update(@Nullable Node node) {
            change(new Known(node, node == null ? "Node " + name + " does not exist" : null));
        }

        private void change(Known now) {
            if (now.equals(known)) {
                return;
            }
            known = now;
            for (Runnable listener : listeners) {
                try {
                    listener.run();
                } catch (RuntimeException e) {
                    log.error("a listener of Node {} threw; this is a bug in the listener", name, e);
                }
            }
        }
    }
}
