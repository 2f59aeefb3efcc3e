package dev.podcache.node;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.reflector.Recovery;
import io.fabric8.kubernetes.api.model.Node;
import java.util.Optional;

/** The last known state of the node agent's own Node. Thread-safe; no method blocks. */
public interface NodeLister extends AutoCloseable {

    /**
     * Returns a lister that watches a Node.
     *
     * @param name the name of the Node
     * @param own lists and watches only that Node ({@code metadata.name=}{@code name})
     * @param recovery shared by all reflectors of the server
     * @return must be closed by the caller
     */
    static NodeLister following(String name, ListerWatcher<Node> own, Recovery recovery) {
        return new WatchedNode(name, own, recovery).start();
    }

    /** Returns the Node's name, whether or not such a Node exists. */
    String name();

    /** Returns the Node as last seen, not to be modified; empty if it does not exist or was never read. */
    Optional<Node> get();

    /**
     * Returns why {@link #get()} is empty or may be outdated, as text for people. Names the Node, and the server's
     * refusal if there was one. Empty while the Node is known and watched.
     */
    Optional<String> problem();

    /**
     * Adds a listener that runs whenever {@link #get()} or {@link #problem()} changes. It must be brief and must not
     * block.
     */
    void addListener(Runnable listener);

    /** Removes a listener. Without effect if it was not added. */
    void removeListener(Runnable listener);

    /** Closes the watch. The last known state stays available. Idempotent. */
    @Override
    void close();
}
