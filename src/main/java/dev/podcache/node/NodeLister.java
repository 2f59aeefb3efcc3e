package dev.podcache.node;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.reflector.Recovery;
import io.fabric8.kubernetes.api.model.Node;
import java.util.Optional;

/** The last known state of our own Node. Thread-safe; no method blocks. */
public interface NodeLister extends AutoCloseable {

    /**
     * Follows a Node from now on.
     *
     * @param name of the Node
     * @param own chooses that Node and no other ({@code metadata.name=}{@code name})
     * @param recovery shared by all reflectors of the server
     * @return to be closed by the caller
     */
    static NodeLister following(String name, ListerWatcher<Node> own, Recovery recovery) {
        return new WatchedNode(name, own, recovery).start();
    }

    /** The Node's name, whether or not such a Node exists. */
    String name();

    /** The Node as last seen, not to be modified; empty if it does not exist or was never read. */
    Optional<Node> get();

    /**
     * Why {@link #get()} is empty, or may be behind, for people; empty if the Node is known and followed. Names the
     * Node, and the server's refusal if there was one.
     */
    Optional<String> problem();

    /**
     * Has {@code listener} run whenever {@link #get()} or {@link #problem()} changed. It must be brief and not block.
     */
    void addListener(Runnable listener);

    /** Undoes {@link #addListener}. Without effect if it was not added. */
    void removeListener(Runnable listener);

    /** Stops following. What is known stays known. Idempotent. */
    @Override
    void close();
}
