package dev.podcache.josdk;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.manager.ObjectCache;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.time.Timekeeper;
import dev.podcache.time.Timekeeper.Scheduled;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.OperatorException;
import io.javaoperatorsdk.operator.api.config.NamespaceChangeable;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.health.Status;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.ResourceEventAware;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Gives a java-operator-sdk controller its secondary resources of one kind from a {@code Podcache}: exactly those that
 * primaries name, each read by its name. A change of one reconciles the primaries that name it. This needs no index and
 * no mapper, because the cache knows the references.
 *
 * <pre>{@code
 * public List<EventSource<?, Website>> prepareEventSources(EventSourceContext<Website> context) {
 *   return List.of(PodcacheEventSource.of(context, cache, ObjectKind.SECRET,
 *       website -> Set.of(ObjectRef.of(
 *           ObjectKind.SECRET, website.getMetadata().getNamespace(), website.getSpec().getSecret()))));
 * }
 *
 * public UpdateControl<Website> reconcile(Website website, Context<Website> context) {
 *   Optional<Secret> secret = context.getSecondaryResource(Secret.class);
 *   ...
 * }
 * }</pre>
 *
 * <p>While the event source runs, each primary is registered from the moment the controller sees it until it is
 * deleted, or until the controller no longer watches its namespace. {@link #stop} unregisters them all. A primary is
 * reconciled when an object that it names appears, changes or is deleted, whoever wrote it: a controller's own writes
 * are reported too. It is not reconciled when an object only becomes {@link ObjectEvent.Type#STALE} or is confirmed
 * again. Filters that are set on the event source apply. The cache must use {@code WATCH} for the kind, or
 * {@code CACHE}, under which changes show only when objects are read.
 *
 * <p>java-operator-sdk does not report to event sources what the controller itself writes by {@code UpdateControl}. If a
 * reconciliation writes which objects the primary names, such as the name of a Secret into its status, the primary is
 * registered for them when it next asks for its secondary resources, and their changes do not reconcile it before that. Have
 * it reconciled again then, by {@code UpdateControl.patchStatus(primary).rescheduleAfter(...)}, and ask. If it is written in
 * another way, {@link #onResourceUpdated} with what the write has returned registers it at once.
 *
 * <p>Make one event source for each controller and each kind of secondary resources. Two event sources with the same
 * cache, the same kind and the same kind of primaries would replace each other's registrations. Thread-safe.
 *
 * @param <R> the model class of the secondary resources
 * @param <P> the model class of the primary resources
 */
public final class PodcacheEventSource<R extends HasMetadata, P extends HasMetadata> extends AbstractEventSource<R, P>
        implements ResourceEventAware<P>, NamespaceChangeable {

    /** How long after its last failed read a primary is reconciled again. */
    static final Duration PAUSE = Duration.ofSeconds(30);

    private final ObjectKind<R> kind;
    private final Manager<R> manager;
    private final @Nullable Timekeeper timekeeper; // null if the manager is none of ours
    private final Supplier<Stream<P>> knownPrimaries;
    private final Supplier<? extends Executor> threads;
    private final RegisteredPrimaries<P> primaries;
    private final Map<ResourceID, Scheduled> unread = new ConcurrentHashMap<>(); // when primaries are reconciled again
    private @Nullable AutoCloseable subscription; // guarded by this
    private volatile boolean started;

    /** Holds the objects of one read that no registered primary holds. */
    private record ReadOwner(Referrer primary, String uid) implements Referrer {

        @Override
        public String toString() {
            return "a read for " + primary;
        }
    }

    /**
     * Makes an event source.
     *
     * @param knownPrimaries returns the primaries that the controller knows now
     * @param threads returns what runs the listener; called at each start
     */
    PodcacheEventSource(
            ObjectKind<R> kind,
            Manager<R> manager,
            Function<? super P, ? extends Set<ObjectRef>> references,
            Supplier<Stream<P>> knownPrimaries,
            Supplier<? extends Executor> threads) {
        super(kind.model(), "podcache " + kind.apiVersion() + "/" + kind.plural());
        this.kind = kind;
        this.manager = manager;
        this.timekeeper = Managers.timekeeperOf(manager);
        this.primaries = new RegisteredPrimaries<>(kind, manager, references);
        this.knownPrimaries = knownPrimaries;
        this.threads = threads;
    }

    /**
     * Returns an event source, to be returned from {@code Reconciler.prepareEventSources}. Makes no request.
     *
     * @param cache a {@code Podcache}, or in a unit test a {@code FakePodcache}; must stay open until the operator has
     *     stopped; the event source never closes it
     * @param references returns what a primary names. References to other kinds are ignored, so the event sources of
     *     several kinds may share one function; a {@code Usage} is ignored too. Called whenever a primary appears,
     *     changes or asks for its secondary resources: must be fast and must not block. If it throws, the primary is
     *     registered for no object, and {@link #getSecondaryResources} throws the exception too
     * @throws IllegalArgumentException if the cache uses the kind with another model class
     * @throws IllegalStateException if the cache is closed and the kind is new to it
     */
    public static <R extends HasMetadata, P extends HasMetadata> PodcacheEventSource<R, P> of(
            EventSourceContext<P> context,
            ObjectCache cache,
            ObjectKind<R> kind,
            Function<? super P, ? extends Set<ObjectRef>> references) {
        Objects.requireNonNull(context, "context");
        return new PodcacheEventSource<>(
                kind,
                cache.objects(Objects.requireNonNull(kind, "kind")),
                Objects.requireNonNull(references, "references"),
                () -> context.getPrimaryCache().list(),
                () -> context.getControllerConfiguration()
                        .getConfigurationService()
                        .getExecutorServiceManager()
                        .cachingExecutorService());
    }

    /**
     * Has each primary read on behalf of a subject: its secondary resources are those that the subject may get, see {@link
     * Referrer#onBehalfOf}. A primary is reconciled when the right of its subject changes, too. Call it before the event
     * source starts. Default: primaries read with all rights of the cache, so whoever may write a primary chooses what it
     * reads.
     *
     * <pre>{@code
     * PodcacheEventSource.of(context, cache, ObjectKind.SECRET, this::references)
     *     .onBehalfOf(website -> Subject.serviceAccount(
     *         website.getMetadata().getNamespace(), website.getSpec().getServiceAccountName()));
     * }</pre>
     *
     * @param subjects returns the subject of a primary; null for one that may read nothing, as if it throws. Called whenever a
     *     primary appears, changes or asks for its secondary resources: must be fast and must not block
     * @return this event source
     * @throws IllegalStateException if it has started
     */
    public synchronized PodcacheEventSource<R, P> onBehalfOf(Function<? super P, @Nullable Subject> subjects) {
        Objects.requireNonNull(subjects, "subjects");
        if (isRunning()) {
            throw new IllegalStateException(name() + " has started: say on whose behalf it reads before that");
        }
        primaries.onBehalfOf(subjects);
        return this;
    }

    /**
     * Registers the primaries that the controller knows, subscribes to changes, and waits until the objects that they
     * name are read, so that the first reconciliations find them. Reads them all at once. Stops waiting for an object
     * when the server refuses it. Objects that are late are read again, each time for the cache's first-sync timeout, until a
     * time brings none of them. While the server answers nothing, that is {@value StartReads#TRIES} times. Idempotent.
     *
     * @throws IllegalStateException if the cache uses the strategy GET for this kind, or is closed and a primary names
     *     an object
     */
    @Override
    public void start() throws OperatorException {
        Object begun;
        synchronized (this) {
            if (isRunning()) {
                return;
            }
            // in sequence, because the listener only marks primaries: the pool would start a thread for each object
            subscription = manager.listen(MoreExecutors.newSequentialExecutor(threads.get()), this::changed);
            begun = subscription;
            super.start();
            primaries.open(knownPrimaries);
        }
        new StartReads<>(name(), kind, manager).read(primaries.objects());
        synchronized (this) {
            // it may have been stopped, and started again, meanwhile
            started = isRunning() && subscription == begun;
        }
    }

    /**
     * Returns healthy from the end of {@link #start} until {@link #stop}; {@code Podcache.entries()} shows the state of
     * each object.
     */
    @Override
    public Status getStatus() {
        return started ? Status.HEALTHY : Status.UNHEALTHY;
    }

    /**
     * Unsubscribes and unregisters every primary. No event is taken for delivery after it has returned; one that was taken
     * just before may still come. Reconciliations that are still running can read on, see {@link #getSecondaryResources}.
     * Idempotent.
     */
    @Override
    public synchronized void stop() throws OperatorException {
        super.stop();
        started = false;
        AutoCloseable open = subscription;
        subscription = null;
        if (open != null) {
            try {
                open.close();
            } catch (Exception e) {
                throw new OperatorException("Could not close the subscription of " + name(), e);
            }
        }
        primaries.close();
        // a read that fails just now may leave one: it finds its primary unregistered
        unread.values().forEach(Scheduled::cancel);
        unread.clear();
    }

    /** Registers the primaries that the controller knows now and unregisters all others. */
    @Override
    public void changeNamespaces(Set<String> namespaces) {
        primaries.replace(knownPrimaries);
    }

    @Override
    public void onResourceCreated(P primary) {
        primaries.put(primary);
    }

    @Override
    public void onResourceUpdated(P primary, P before) {
        primaries.put(primary);
    }

    @Override
    public void onResourceDeleted(P primary) {
        ResourceID id = ResourceID.fromResource(primary);
        primaries.remove(id);
        forget(id);
    }

    private void changed(ObjectEvent<R> event) {
        if (!isAccepted(event)) {
            return;
        }
        for (Referrer referrer : event.referrers()) {
            ResourceID id =
                    new ResourceID(referrer.name(), referrer.namespace().isEmpty() ? null : referrer.namespace());
            if (primaries.holds(id, referrer)) {
                getEventHandler().handleEvent(new Event(id));
            }
        }
    }

    /** Returns whether the object has changed, and every filter accepts the change. */
    private boolean isAccepted(ObjectEvent<R> event) {
        R now = event.current().orElse(null);
        R before = event.previous().orElse(null);
        return switch (event.type()) {
            case ADDED -> now != null && isAccepted(now) && (onAddFilter == null || onAddFilter.accept(now));
            case UPDATED ->
                now != null
                        && isAccepted(now)
                        && (before == null || onUpdateFilter == null || onUpdateFilter.accept(now, before));
            case DELETED ->
                before == null
                        || (isAccepted(before) && (onDeleteFilter == null || onDeleteFilter.accept(before, false)));
            case DENIED, ALLOWED -> true;
            case STALE, RECOVERED -> false;
        };
    }

    private boolean isAccepted(R object) {
        return genericFilter == null || genericFilter.accept(object);
    }

    /**
     * Returns the objects of this kind that {@code primary} names and that exist. An object that is missing here does
     * not exist: the API server has said so, and nothing has failed since. Whatever else is the reason for not having
     * an object, this throws.
     *
     * <p>Objects that are known come from memory, even if they are stale. Waits once for all that are not: at most for
     * the cache's first-sync timeout, or its read timeout under {@code CACHE}. For objects that no registered primary
     * names, the call registers an owner of its own until it returns. So it reads them from the API server if {@code
     * primary} is deleted, was not seen yet or is an old version, and after {@link #stop}, until the cache is closed.
     *
     * @return shared objects: must not be modified
     * @throws Denied if {@code primary} reads on behalf of a subject that may not get an object
     * @throws ObjectUnavailableException if it is unknown whether an object exists, such as without access to it, or because the
     *     cache is closed; java-operator-sdk then tries again, unless the operator stops. A registered primary is reconciled
     *     again half a minute after the last try, too: java-operator-sdk gives up after some of them
     * @throws IllegalArgumentException if {@code primary} names an object that cannot exist; the message quotes the
     *     name
     * @throws IllegalStateException if the cache is closed just then
     */
    @Override
    public Set<R> getSecondaryResources(P primary) {
        ResourceID id = ResourceID.fromResource(primary);
        Set<R> found;
        try {
            found = read(primary);
        } catch (Denied | Closed e) {
            throw e; // the event of the permission reconciles the primary, and nothing is read from a closed cache
        } catch (ObjectUnavailableException e) {
            Timekeeper time = timekeeper;
            if (time != null) {
                reconcileLater(time, id, Referrer.of(primary));
            }
            throw e;
        }
        forget(id);
        return found;
    }

    /**
     * Has a primary reconciled again. No event may do that: there is none when an object that was never known turns out not to
     * exist.
     */
    private void reconcileLater(Timekeeper time, ResourceID id, Referrer referrer) {
        if (primaries.holds(id, referrer)) {
            Scheduled next = time.schedule(PAUSE, () -> time.blocking().execute(() -> reconcileUnread(id, referrer)));
            Scheduled before = unread.put(id, next);
            if (before != null) {
                before.cancel();
            }
        }
    }

    private void reconcileUnread(ResourceID id, Referrer referrer) {
        Scheduled taken = unread.remove(id);
        if (taken == null) {
            return; // it was read meanwhile
        }
        // another read may have failed since this began
        taken.cancel();
        if (isRunning() && primaries.holds(id, referrer)) {
            getEventHandler().handleEvent(new Event(id));
        }
    }

    private void forget(ResourceID id) {
        Scheduled next = unread.remove(id);
        if (next != null) {
            next.cancel();
        }
    }

    private Set<R> read(P primary) {
        Set<ObjectKey> objects = primaries.namedBy(primary);
        primaries.putIfNewer(primary, objects);
        Referrer owner = primaries.readerOf(primary);
        try {
            return existing(owner, objects);
        } catch (NotRegistered e) {
            Referrer once = new ReadOwner(owner, UUID.randomUUID().toString());
            Referrer reader =
                    owner.isOnBehalf() ? once.onBehalfOf(owner.subject().orElse(null)) : once;
            manager.register(reader, objects);
            try {
                return existing(reader, objects);
            } finally {
                manager.unregister(reader);
            }
        }
    }

    private Set<R> existing(Referrer owner, Set<ObjectKey> objects) {
        return new LinkedHashSet<>(
                (owner.isOnBehalf() ? manager.getObjects(owner, objects) : manager.getObjects(objects)).values());
    }
}
