package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodReferences;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The pods of the node that have not ended. Registers each of them, and unregisters it when it ends: when its phase is
 * Succeeded or Failed, or when it is deleted. A pod that is being deleted still runs, so it stays registered.
 *
 * <p>Called by one thread at a time; {@link #pods} may be called by any thread.
 */
final class AssignedPods implements ReflectorSink<Pod> {

    private final Consumer<Pod> register;
    private final Consumer<Pod> unregister;
    private final EventWriter events;
    private final ConcurrentHashMap<PodKey, Pod> assigned = new ConcurrentHashMap<>();
    private volatile boolean listed;
    private boolean disconnected;

    AssignedPods(Consumer<Pod> register, Consumer<Pod> unregister, EventWriter events) {
        this.register = register;
        this.unregister = unregister;
        this.events = events;
    }

    @Override
    public void replace(List<Fetched<Pod>> items, String resourceVersion) {
        if (items.isEmpty()) {
            events.write(new ProgramEvent("idle", "no pods are assigned to this node", ImmutableMap.of()));
        }
        Set<@Nullable PodKey> present = new HashSet<>();
        items.forEach(item -> present.add(upsert(item.object())));
        for (Pod pod : pods()) {
            if (!present.contains(PodReferences.key(pod))) {
                remove(pod, "gone");
            }
        }
        listed = true;
    }

    @Override
    public void upsert(Fetched<Pod> fetched) {
        upsert(fetched.object());
    }

    @Override
    public void delete(Fetched<Pod> last) {
        remove(last.object(), "deleted");
    }

    @Override
    public void connected() {
        if (disconnected) {
            disconnected = false;
            events.write(new ProgramEvent("connected", "the pods of this node are watched again", ImmutableMap.of()));
        }
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (!disconnected) {
            disconnected = true;
            events.write(ProgramEvent.of("disconnected", "message", String.valueOf(cause.getMessage())));
        }
    }

    /** Returns whether the pods were listed, so that {@link #pods} returns all of them. */
    boolean isListed() {
        return listed;
    }

    /** Returns the registered pods. */
    ImmutableList<Pod> pods() {
        return ImmutableList.copyOf(assigned.values());
    }

    /** Returns the key of the pod, or null if it cannot be registered. */
    private @Nullable PodKey upsert(Pod pod) {
        try {
            PodKey key = PodReferences.key(pod);
            if (PodEnd.isTerminal(pod)) {
                remove(pod, "phase " + pod.getStatus().getPhase());
            } else {
                register(pod, key);
            }
            return key;
        } catch (IllegalArgumentException e) {
            events.write(ProgramEvent.of("refused", "message", String.valueOf(e.getMessage())));
            return null;
        }
    }

    private void register(Pod pod, PodKey key) {
        register.accept(pod);
        Pod before = assigned.put(key, pod);
        if (before == null || !ReferencedObjects.of(before).equals(ReferencedObjects.of(pod))) {
            int secrets = PodReferences.secretKeys(pod).size();
            int configMaps = PodReferences.configMapKeys(pod).size();
            events.write(new ProgramEvent(
                    before == null ? "registered" : "changed",
                    String.format(Locale.ROOT, "pod %-28s Secrets %d, ConfigMaps %d", name(key), secrets, configMaps),
                    ImmutableMap.of("pod", name(key), "secrets", secrets, "configMaps", configMaps)));
        }
    }

    private void remove(Pod pod, String why) {
        PodKey key = PodReferences.key(pod);
        if (assigned.remove(key) != null) {
            unregister.accept(pod);
            events.write(new ProgramEvent(
                    "unregistered", "pod " + name(key) + ": " + why, ImmutableMap.of("pod", name(key), "why", why)));
        }
    }

    private static String name(PodKey key) {
        return key.namespace() + "/" + key.name();
    }
}
