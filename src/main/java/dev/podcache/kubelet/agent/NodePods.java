package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.kubelet.podsync.PodWorkers;
import dev.podcache.kubelet.podsync.ServerPods;
import dev.podcache.kubelet.podsync.StaticPods;
import dev.podcache.kubelet.staticpods.MirrorPods;
import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.kubelet.staticpods.StaticPodFolder;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The pods of an agent's node: those that are assigned to it at the API server, and static pods. Mirror pods are passed
 * to {@link MirrorPods}. Thread-safe; no method blocks.
 */
final class NodePods implements ReflectorSink<Pod>, AutoCloseable {

    private final ServerPods assigned;
    private final MirrorPods mirrors;
    private final @Nullable StaticPods statics;
    private final @Nullable StaticPodFolder folder;
    private final AtomicBoolean started = new AtomicBoolean();

    /** @param files where static pods are; empty if the node has none */
    NodePods(
            PodWorkers workers, MirrorPods mirrors, Optional<StaticPodFiles> files, StaticPodFolder.FolderParts parts) {
        this.assigned = new ServerPods(workers);
        this.mirrors = mirrors;
        if (files.isPresent()) {
            StaticPods received = new StaticPods(workers, mirrors);
            this.statics = received;
            this.folder = new StaticPodFolder(files.get(), parts, received::set);
        } else {
            this.statics = null;
            this.folder = null;
            mirrors.staticPodsAreKnown();
        }
    }

    /** Starts the static pods. Idempotent. */
    void startStaticPods() {
        if (folder != null && started.compareAndSet(false, true)) {
            folder.start();
        }
    }

    /** Gives the static pods the addresses of the Node, which is known from now on. */
    void nodeIsKnown() {
        if (statics != null) {
            statics.syncAll();
        }
    }

    /** Checks the mirror pods, because the Node, their owner, has changed. */
    void nodeChanged() {
        mirrors.reconcile();
    }

    @Override
    public void replace(List<Fetched<Pod>> items, String resourceVersion) {
        assigned.replace(items, resourceVersion);
        mirrors.replace(items.stream().map(Fetched::object).toList());
    }

    @Override
    public void upsert(Fetched<Pod> fetched) {
        assigned.upsert(fetched);
        mirrors.upsert(fetched.object());
    }

    @Override
    public void delete(Fetched<Pod> last) {
        assigned.delete(last);
        mirrors.delete(last.object());
    }

    @Override
    public void connected() {
        assigned.connected();
    }

    @Override
    public void disconnected(ApiServerException cause) {
        assigned.disconnected(cause);
    }

    /** Reads no further file, and makes no further request about a mirror pod. Idempotent. */
    @Override
    public void close() {
        if (folder != null) {
            folder.close();
        }
        mirrors.close();
    }
}
