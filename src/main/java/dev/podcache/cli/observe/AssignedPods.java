package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Event;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodReferences;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The pods of our node that have not ended, each registered as long as it is one of them. Told by one thread at a time;
 * {@link #pods} may be called by any.
 *
 * <p>A pod is over when its phase is Succeeded or Failed, when it is deleted, or when another of the same name but
 * another UID takes its place. A pod that is being deleted still runs, so it still needs its objects.
 */
public final class AssignedPods implements ReflectorSink<Pod> {

    private final PodRegistry registry;
    private final Account account;
    private final ConcurrentHashMap<ObjectKey, Pod> assigned = new ConcurrentHashMap<>();
    private volatile boolean listed;
    private boolean disconnected;

    AssignedPods(PodRegistry registry, Account account) {
        this.registry = registry;
        this.account = account;
    }

    @Override
    public void replace(List<Fetched<Pod>> items, String resourceVersion) {
        if (items.isEmpty()) {
            account.tell(new Event("idle", "no pods are assigned to this node", ImmutableMap.of()));
        }
        Set<PodKey> there = new HashSet<>();
        for (Fetched<Pod> item : items) {
            PodKey key = upsert(item.object());
            if (key != null) {
                there.add(key);
            }
        }
        for (Pod pod : pods()) {
            if (!there.contains(PodReferences.key(pod))) {
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
            account.tell(new Event("connected", "following the pods of this node again", ImmutableMap.of()));
        }
    }

    @Override
    public void disconnected(ApiServerException cause) {
        if (!disconnected) {
            disconnected = true;
            String why = String.valueOf(cause.getMessage());
            account.tell(new Event("disconnected", why, ImmutableMap.of("message", why)));
        }
    }

    /** Whether the pods were listed once, so that {@link #pods} are all of them. */
    boolean isListed() {
        return listed;
    }

    /** The pods that are registered now. */
    public ImmutableList<Pod> pods() {
        return ImmutableList.copyOf(assigned.values());
    }

    /** The key of the pod, or null if it cannot be registered. */
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
            String why = String.valueOf(e.getMessage());
            account.tell(new Event("refused", why, ImmutableMap.of("message", why)));
            return null;
        }
    }

    private void register(Pod pod, PodKey key) {
        registry.registerPod(pod);
        Pod before = assigned.put(nameOf(key), pod);
        if (before == null) {
            tell("registered", key, pod);
        } else if (!PodReferences.key(before).equals(key)) {
            // the successor first: what both refer to is never let go of in between
            registry.unregisterPod(before);
            tell("replaced", key, pod);
        } else if (!references(before).equals(references(pod))) {
            tell("changed", key, pod);
        }
    }

    private void remove(Pod pod, String why) {
        PodKey key = PodReferences.key(pod);
        Pod before = assigned.get(nameOf(key));
        if (before == null || !PodReferences.key(before).equals(key)) {
            return;
        }
        assigned.remove(nameOf(key));
        registry.unregisterPod(before);
        account.tell(new Event(
                "unregistered",
                "pod " + nameOf(key) + ": " + why,
                ImmutableMap.of("pod", "" + nameOf(key), "why", why)));
    }

    private void tell(String name, PodKey key, Pod pod) {
        int secrets = PodReferences.secretKeys(pod).size();
        int configMaps = PodReferences.configMapKeys(pod).size();
        account.tell(new Event(
                name,
                String.format(
                        "pod %-28s %s, %s", nameOf(key), count(secrets, "Secret"), count(configMaps, "ConfigMap")),
                ImmutableMap.of("pod", "" + nameOf(key), "secrets", secrets, "configMaps", configMaps)));
    }

    private static String count(int number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    private static ImmutableList<Set<ObjectKey>> references(Pod pod) {
        return ImmutableList.of(PodReferences.secretKeys(pod), PodReferences.configMapKeys(pod));
    }

    private static ObjectKey nameOf(PodKey key) {
        return ObjectKey.of(key.namespace(), key.name());
    }
}
