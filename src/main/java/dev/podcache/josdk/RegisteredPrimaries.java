package dev.podcache.josdk;

import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.object.ResourceVersions;
import dev.podcache.object.Subject;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The primaries of an event source, each registered for the objects of one kind that it names. Thread-safe. */
final class RegisteredPrimaries<P extends HasMetadata> {

    private static final Logger log = LoggerFactory.getLogger(PodcacheEventSource.class);

    private final ObjectKind<?> kind;
    private final Manager<?> manager;
    private final Function<? super P, ? extends Set<ObjectRef>> references;
    private volatile @Nullable Function<? super P, @Nullable Subject> subjects; // null if primaries have no subjects
    private final Map<ResourceID, Holding> holdings = new ConcurrentHashMap<>(); // written under this
    private boolean open; // guarded by this

    /** The objects that a primary is registered for, and the version of the primary that named them. */
    private record Holding(Referrer referrer, @Nullable String version, Set<ObjectKey> objects) {}

    /** Makes a closed instance, which registers nothing. */
    RegisteredPrimaries(
            ObjectKind<?> kind, Manager<?> manager, Function<? super P, ? extends Set<ObjectRef>> references) {
        this.kind = kind;
        this.manager = manager;
        this.references = references;
    }

    /** Has each primary read on behalf of a subject. Called before it is opened. */
    void onBehalfOf(Function<? super P, @Nullable Subject> newSubjects) {
        subjects = newSubjects;
    }

    /** Returns the owner that a primary is. If it is not known on whose behalf it reads, it is nobody's. */
    private Referrer ownerOf(P primary) {
        Referrer owner = Referrer.of(primary);
        Function<? super P, @Nullable Subject> function = subjects;
        if (function == null) {
            return owner;
        }
        try {
            return owner.onBehalfOf(function.apply(primary));
        } catch (RuntimeException e) {
            log.warn("on whose behalf {} reads is unknown: it may read no {}", owner, kind, e);
            return owner.onBehalfOf(null);
        }
    }

    /** Returns the owner to read with: as it is registered, or else as {@code primary} says. */
    Referrer readerOf(P primary) {
        Holding known = holdings.get(ResourceID.fromResource(primary));
        Referrer owner = ownerOf(primary);
        return known != null && known.referrer.equals(owner) ? known.referrer : owner;
    }

    /** Returns the objects that {@code primary} names; throws whatever the user's function throws. */
    Set<ObjectKey> namedBy(P primary) {
        return references.apply(primary).stream()
                .filter(reference -> reference.kind().equals(kind))
                .map(ObjectRef::key)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Registers the primaries that {@code now} returns, and has {@link #put} register others until {@link #close}. */
    synchronized void open(Supplier<Stream<P>> now) {
        open = true;
        replace(now);
    }

    /** Registers the primaries that {@code now} returns and unregisters all others. Without effect if closed. */
    synchronized void replace(Supplier<Stream<P>> now) {
        if (open) {
            Map<ResourceID, P> known = new HashMap<>();
            // under the monitor: a primary that is deleted meanwhile is removed afterwards
            now.get().forEach(primary -> known.put(ResourceID.fromResource(primary), primary));
            Set.copyOf(holdings.keySet()).stream()
                    .filter(id -> !known.containsKey(id))
                    .forEach(this::remove);
            known.values().forEach(this::put);
        }
    }

    /** Registers a primary, or a newer version of it. Ignores an older version. Without effect if closed. */
    synchronized void put(P primary) {
        ResourceID id = ResourceID.fromResource(primary);
        Referrer referrer = ownerOf(primary);
        String version = primary.getMetadata().getResourceVersion();
        Holding before = holdings.get(id);
        boolean same = before != null && before.referrer.equals(referrer);
        if (!open || (before != null && same && ResourceVersions.isOlder(version, before.version))) {
            return;
        }
        Set<ObjectKey> objects;
        try {
            objects = namedBy(primary);
        } catch (RuntimeException e) {
            log.warn("the references of {} are unknown: it holds no {}", referrer, kind, e);
            objects = Set.of();
        }
        if (before == null
                || !same
                || !before.objects.equals(objects)
                || !before.referrer.subject().equals(referrer.subject())) {
            manager.register(referrer, objects);
        }
        holdings.put(id, new Holding(referrer, version, objects));
        if (before != null && !same) {
            manager.unregister(before.referrer); // last, so that objects that both name stay in memory
        }
    }

    /**
     * Registers a newer version of a primary if it names other {@code objects} or another subject. The controller may have written that
     * version itself, and java-operator-sdk does not report such a write to event sources.
     */
    void putIfNewer(P primary, Set<ObjectKey> objects) {
        Holding known = holdings.get(ResourceID.fromResource(primary));
        if (known == null
                || (known.objects.equals(objects)
                        && known.referrer.subject().equals(ownerOf(primary).subject()))) {
            return;
        }
        synchronized (this) {
            if (holds(ResourceID.fromResource(primary), Referrer.of(primary))) {
                put(primary);
            }
        }
    }

    /** Unregisters a primary, if it is registered. */
    synchronized void remove(ResourceID id) {
        Holding before = holdings.remove(id);
        if (before != null) {
            manager.unregister(before.referrer);
        }
    }

    /** Unregisters all primaries, and registers none until it is opened again. */
    synchronized void close() {
        open = false;
        Set.copyOf(holdings.keySet()).forEach(this::remove);
    }

    /**
     * Returns whether the registered primary with this ID is {@code referrer}, and not a predecessor of the same name.
     */
    boolean holds(ResourceID id, Referrer referrer) {
        Holding holding = holdings.get(id);
        return holding != null && holding.referrer.equals(referrer);
    }

    /** An object that an owner may read; any if it is null. */
    record WantedObject(@Nullable Referrer owner, ObjectKey object) {}

    /** Returns all objects that primaries name: for each of those that read on behalf of somebody. */
    Stream<WantedObject> objects() {
        return holdings.values().stream()
                .flatMap(holding -> holding.objects.stream()
                        .map(object ->
                                new WantedObject(holding.referrer.isOnBehalf() ? holding.referrer : null, object)))
                .distinct();
    }
}
