package dev.podcache.store;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watches of the namespaces of one store, and the namespaces that may not be watched. A watch exists from its first
 * member to its last. Thread-safe.
 *
 * <p>A refusal (403) is valid for ten minutes. The next object that is watched anew after that tries the namespace
 * again.
 */
final class NamespaceWatches<T extends HasMetadata> {

    private static final Logger log = LoggerFactory.getLogger(NamespaceWatches.class);
    private static final Duration REFUSED_FOR = Duration.ofMinutes(10);

    final WatchObjectStore<T> store;
    final BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace;
    private final Map<String, NamespaceWatch<T>> byNamespace = new HashMap<>(); // guarded by this
    private final Map<String, Refusal> refusals = new ConcurrentHashMap<>(); // written under this

    private record Refusal(ApiServerException cause, long at) {}

    NamespaceWatches(WatchObjectStore<T> store, BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace) {
        this.store = store;
        this.inNamespace = inNamespace;
    }

    /** Returns whether the objects of a namespace are watched one by one. Takes no lock. */
    boolean isRefused(String namespace) {
        Refusal refusal = refusals.get(namespace);
        return refusal != null && !isOver(refusal);
    }

    /** Returns whether the refusal of that namespace is this one, which is logged already. Takes no lock. */
    boolean isRefusal(String namespace, ApiServerException cause) {
        Refusal refusal = refusals.get(namespace);
        return refusal != null && refusal.cause == cause;
    }

    private boolean isOver(Refusal refusal) {
        return store.now() - refusal.at >= REFUSED_FOR.toNanos();
    }

    /** Adds a member to the watch of its namespace. Returns null if the member is closed or the namespace refused. */
    synchronized @Nullable NamespaceWatch<T> join(NamespaceWatch.Member<T> member) {
        String namespace = member.entry.key.namespace();
        if (member.isOver() || isRefused(namespace)) {
            return null;
        }
        NamespaceWatch<T> watch = byNamespace.computeIfAbsent(namespace, name -> new NamespaceWatch<>(name, this));
        watch.members.put(member.entry.key.name(), member);
        member.joinLocked(watch.tick());
        return watch;
    }

    /** Removes a member, and closes the watch of its namespace if it was the last. Idempotent. */
    void leave(NamespaceWatch.Member<T> member) {
        NamespaceWatch<T> left = leaveLocked(member);
        if (left != null) {
            left.close();
        }
    }

    private synchronized @Nullable NamespaceWatch<T> leaveLocked(NamespaceWatch.Member<T> member) {
        member.endLocked();
        String namespace = member.entry.key.namespace();
        NamespaceWatch<T> watch = byNamespace.get(namespace);
        if (watch == null || !watch.members.remove(member.entry.key.name(), member) || !watch.members.isEmpty()) {
            return null;
        }
        byNamespace.remove(namespace);
        return watch;
    }

    /** Ends the watch of a namespace, if there is one, as if the API server had refused it. */
    void revoked(String namespace, ApiServerException cause) {
        NamespaceWatch<T> watch;
        synchronized (this) {
            watch = byNamespace.get(namespace);
        }
        if (watch != null) {
            watch.revoked(cause);
        }
    }

    /** Records that a namespace may not be watched, and ends the members of its watch. Returns them. */
    List<NamespaceWatch.Member<T>> refuse(NamespaceWatch<T> watch, ApiServerException cause) {
        List<NamespaceWatch.Member<T>> members;
        synchronized (this) {
            if (!byNamespace.remove(watch.namespace, watch)) {
                return List.of();
            }
            refusals.values().removeIf(this::isOver);
            refusals.put(watch.namespace, new Refusal(cause, store.now()));
            members = ImmutableList.copyOf(watch.members.values());
            members.forEach(NamespaceWatch.Member::endLocked);
        }
        log.warn(
                "{}; each referenced {} of namespace {} is watched by name instead, with a watch of its own: grant list"
                        + " and watch on the namespace, or choose WatchScope.OBJECT. Objects that are watched anew try the"
                        + " namespace again in {} minutes",
                cause.getMessage(),
                store.kind,
                watch.namespace,
                REFUSED_FOR.toMinutes());
        return members;
    }
}
