package dev.podcache.kubelet.staticpods;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.Retries;
import dev.podcache.node.NodeLister;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodOrigin;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a mirror pod at the API server for each static pod of a node: creates it once the Node exists, with the Node as
 * its owner; replaces it if it shows another version of the static pod or is being deleted; deletes it if there is no
 * static pod of its name. What fails is repeated. Thread-safe; no method blocks.
 *
 * <p>Follows {@code tryReconcileMirrorPods} of the kubelet's {@code kubelet.go} and {@code pkg/kubelet/pod/mirror_client.go}.
 */
public final class MirrorPods implements AutoCloseable {

    /*
     * Each name has a MirrorSlot, with the static pod, the mirror pod as last seen, and at most one request or pause. The next
     * request is decided under the lock and sent outside. Every change, answer and end of a pause decides again. Nothing is
     * requested before the mirror pods were listed and the static pods were read: a mirror pod that is not expected yet
     * must not be deleted.
     *
     * An answer may be newer than what the watch delivers after it. A mirror pod that was deleted by us is not taken back,
     * by its UID. Otherwise an old event causes a request that the server refuses, because requests name the UID; then the
     * watch decides.
     */

    private static final Logger log = LoggerFactory.getLogger(MirrorPods.class);
    private static final Retries RETRIES = new Retries(Duration.ofSeconds(1), Duration.ofMinutes(1));

    private final ObjectApi<Pod> api;
    private final NodeLister node;
    private final Timekeeper timekeeper;
    private final Runnable changed;

    private final Map<ObjectKey, MirrorSlot> slots = new HashMap<>(); // guarded by this
    private boolean listed; // guarded by this
    private boolean staticPodsKnown; // guarded by this
    private boolean closed; // guarded by this

    /** The state of one name. Guarded by the lock of the instance. */
    private static final class MirrorSlot {
        @Nullable
        Pod wanted;

        @Nullable
        Pod mirror;

        @Nullable
        String deletedUid;

        boolean requesting;
        int failures;
        Timekeeper.@Nullable Scheduled pause;

        boolean isEmpty() {
            return wanted == null && mirror == null && !requesting && pause == null;
        }
    }

    /**
     * Creates an instance that knows no pods.
     *
     * @param node must exist for mirror pods to be created
     * @param changed called when another mirror pod shows a static pod; must not block
     */
    public MirrorPods(ObjectApi<Pod> api, NodeLister node, Timekeeper timekeeper, Runnable changed) {
        this.api = api;
        this.node = node;
        this.timekeeper = timekeeper;
        this.changed = changed;
    }

    /** Returns the mirror pod that shows this version of a static pod, as last seen; empty if there is none. */
    public synchronized Optional<Pod> of(Pod pod) {
        MirrorSlot slot = slots.get(key(pod));
        return slot == null || slot.mirror == null || !PodOrigin.isMirrorOf(slot.mirror, pod)
                ? Optional.empty()
                : Optional.of(slot.mirror);
    }

    /** Adds a static pod, or replaces the one of its name. */
    public void add(Pod pod) {
        synchronized (this) {
            slot(key(pod)).wanted = pod;
        }
        step(key(pod));
    }

    /** Removes the static pod of this name. */
    public void remove(ObjectKey name) {
        synchronized (this) {
            slot(name).wanted = null;
        }
        step(name);
    }

    /** Tells that all static pods were added, so that other mirror pods may be deleted. */
    public void staticPodsAreKnown() {
        synchronized (this) {
            staticPodsKnown = true;
        }
        reconcile();
    }

    /** Checks all mirror pods, for example because the Node exists now. */
    public void reconcile() {
        Set<ObjectKey> names;
        synchronized (this) {
            names = Set.copyOf(slots.keySet());
        }
        names.forEach(this::step);
    }

    /** Takes the node's pods at the API server; those that are no mirror pods are ignored. */
    public void replace(Collection<Pod> pods) {
        Set<ObjectKey> present = new HashSet<>();
        for (Pod pod : pods) {
            if (PodOrigin.isMirror(pod)) {
                seen(pod);
                present.add(key(pod));
            }
        }
        synchronized (this) {
            listed = true;
            slots.forEach((name, slot) -> {
                if (!present.contains(name)) {
                    slot.mirror = null;
                }
            });
        }
        reconcile();
    }

    /** Takes a pod that appeared or changed at the API server; ignored if it is no mirror pod. */
    public void upsert(Pod pod) {
        if (PodOrigin.isMirror(pod)) {
            seen(pod);
            step(key(pod));
        }
    }

    /** Takes a pod that was deleted at the API server. */
    public void delete(Pod last) {
        if (PodOrigin.isMirror(last)) {
            gone(key(last), uid(last), true);
            step(key(last));
        }
    }

    private void seen(Pod pod) {
        boolean another;
        synchronized (this) {
            MirrorSlot slot = slot(key(pod));
            if (uid(pod).equals(slot.deletedUid)) {
                return;
            }
            another = slot.mirror == null || !uid(slot.mirror).equals(uid(pod));
            slot.mirror = pod;
        }
        if (another) {
            changed.run();
        }
    }

    private synchronized void gone(ObjectKey name, String uid, boolean forGood) {
        MirrorSlot slot = slot(name);
        slot.deletedUid = forGood ? uid : slot.deletedUid;
        if (slot.mirror != null && uid(slot.mirror).equals(uid)) {
            slot.mirror = null;
        }
    }

    /** Sends the request that a name needs next, if any. */
    private void step(ObjectKey name) {
        Pod outdated = null;
        Pod missing = null;
        synchronized (this) {
            MirrorSlot slot = slot(name);
            boolean mayRequest = listed && staticPodsKnown && !closed && !slot.requesting && slot.pause == null;
            if (mayRequest && slot.mirror != null && isOutdated(slot)) {
                outdated = slot.mirror;
            } else if (mayRequest && slot.mirror == null && slot.wanted != null) {
                missing = mirror(slot.wanted);
            }
            slot.requesting |= outdated != null || missing != null;
            if (slot.isEmpty()) {
                slots.remove(name);
            }
        }
        if (outdated != null) {
            delete(name, uid(outdated));
        } else if (missing != null) {
            create(name, missing);
        }
    }

    private static boolean isOutdated(MirrorSlot slot) {
        Pod mirror = slot.mirror;
        return mirror != null
                && (slot.wanted == null || PodEnd.isDeleted(mirror) || !PodOrigin.isMirrorOf(mirror, slot.wanted));
    }

    /** Returns the mirror pod to create; null if the Node, its owner, does not exist. */
    private @Nullable Pod mirror(Pod pod) {
        Node owner = node.get().orElse(null);
        if (owner == null || owner.getMetadata().getDeletionTimestamp() != null) {
            return null;
        }
        return new PodBuilder(pod)
                .editMetadata()
                .withUid(null)
                .addToAnnotations(
                        PodOrigin.MIRROR, pod.getMetadata().getAnnotations().get(PodOrigin.HASH))
                .addNewOwnerReference()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(owner.getMetadata().getName())
                .withUid(owner.getMetadata().getUid())
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .build();
    }

    private void create(ObjectKey name, Pod mirror) {
        CompletableFuture<Pod> answer = sent(() -> api.create(mirror));
        answer.whenComplete((created, thrown) -> {
            try {
                if (created != null) {
                    seen(created);
                }
            } finally {
                answered(name, "was not created", thrown);
            }
        });
    }

    private void delete(ObjectKey name, String uid) {
        CompletableFuture<Pod> answer = sent(() -> api.delete(name, uid));
        answer.whenComplete((last, thrown) -> {
            FailureReason reason = thrown == null ? null : ApiServerException.reasonOf(thrown);
            boolean deleted = thrown == null || reason == FailureReason.NOT_FOUND;
            // a conflict: another pod has the name
            boolean gone = deleted || reason == FailureReason.CONFLICT;
            if (gone) {
                gone(name, uid, deleted);
            }
            answered(name, "was not deleted", gone ? null : thrown);
        });
    }

    private static CompletableFuture<Pod> sent(Supplier<CompletableFuture<Pod>> request) {
        try {
            return request.get();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void answered(ObjectKey name, String failed, @Nullable Throwable thrown) {
        Throwable cause = thrown == null ? null : ApiServerException.causeOf(thrown);
        int failures;
        boolean retries;
        synchronized (this) {
            MirrorSlot slot = slot(name);
            slot.requesting = false;
            slot.failures = cause == null ? 0 : slot.failures + 1;
            failures = slot.failures;
            retries = cause != null && !closed;
            if (retries) {
                slot.pause = timekeeper.schedule(RETRIES.pause(failures, 0, cause), () -> pauseOver(name));
            }
        }
        if (cause != null && retries && failures == 1) {
            log.warn("mirror pod {} {}; retrying: {}", name, failed, text(cause));
        } else if (cause != null) {
            log.debug("mirror pod {} {}; {}: {}", name, failed, retries ? "retrying" : "closed", text(cause));
        }
        step(name);
    }

    /** A request that throws has often no message. */
    private static @Nullable String text(Throwable cause) {
        return cause instanceof ApiServerException ? cause.getMessage() : cause.toString();
    }

    private void pauseOver(ObjectKey name) {
        synchronized (this) {
            slot(name).pause = null;
        }
        step(name);
    }

    /** Makes no further request. A request in flight may still take effect. The mirror pods remain. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        for (MirrorSlot slot : slots.values()) {
            if (slot.pause != null) {
                slot.pause.cancel();
            }
        }
    }

    private synchronized MirrorSlot slot(ObjectKey name) {
        return slots.computeIfAbsent(name, added -> new MirrorSlot());
    }

    private static ObjectKey key(Pod pod) {
        return ObjectKey.of(pod.getMetadata().getNamespace(), pod.getMetadata().getName());
    }

    private static String uid(Pod pod) {
        return String.valueOf(pod.getMetadata().getUid());
    }
}
