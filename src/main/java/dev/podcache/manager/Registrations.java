package dev.podcache.manager;

import com.google.common.base.Strings;
import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.object.Quoted;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.object.Usage;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.Restricted;
import dev.podcache.store.Unfollowed;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers the registered referrers and the references that each of them holds, of all kinds. Thread-safe.
 *
 * <p>Each call for a referrer is one step over all kinds: concurrent calls of {@link #registerPod} and {@link
 * #unregister} take effect in the same order for Secrets and ConfigMaps. No call makes a request or waits for one.
 */
final class Registrations {

    /*
     * A referrer has a Registration from the call that registers it until it holds nothing:
     *
     * state     in the map       holds                moves to
     * ---------------------------------------------------------------------------------
     * new       yes              nothing              in use by a register, or released
     * in use    yes              objects, a version   in use, or released
     * released  until removed    nothing              -
     *
     * A register that finds a released one removes it from the map and makes another. For a read, it is as if there were none.
     *
     * All changes of a referrer's references are made under the monitor of its Registration, so the stores see them one
     * after the other: an unregister cannot take back a reference before the concurrent register has added it. Under the
     * monitor, only addReference and deleteReference of the stores are called, with a list of effects. They change their
     * references and add to the list what follows from it: to open or close a watch, to call listeners and metrics. The
     * caller runs the list after it has left the monitor. So a listener that runs at once, on the thread that registers,
     * may register other owners: it finds no monitor taken. Effects of two calls may run in another order than the calls.
     * That is right, because each looks at what its entry is by then.
     *
     * Owners with a subject. A Registration is found with any subject, and knows the registered one. Who it is and what it holds
     * is one object (`OwnerHolds`): a read sees all of a registration or nothing of it. For each object that an owner with a
     * subject holds there is a ReadHold, which says whether he may read it now. An owner that registers with another subject gets
     * others for everything. CachedReviews is called under the monitor, and its requests are sent by an effect.
     *
     * Reads of one object see a call as one step. It changes two things: the references of the store, by which reads without an
     * owner are answered, and `held`, by which reads of the owner are. While they differ, reads of the owner find no hold. Then
     * they look again under the monitor, and so wait for the end of the call. A new object has no hold yet. A released one has none
     * any more. An owner that gets its first subject, or loses it, has no hold on anything meanwhile. A read that finds a hold
     * takes no lock. A call that fails takes back what it added; reads without an owner may have seen that.
     */

    private static final Logger log = LoggerFactory.getLogger(Manager.class);

    private final ConcurrentHashMap<Object, Registration> byReferrer = new ConcurrentHashMap<>(); // by identity()
    private final AtomicInteger managers = new AtomicInteger();
    private final Set<Usage> followed;
    private final @Nullable CachedReviews reviews; // null if owners with a subject may read nothing

    /**
     * Makes an empty instance.
     *
     * @param followed the usages that need the changes of an object; empty for all
     */
    Registrations(Set<Usage> followed) {
        this(followed, null);
    }

    /**
     * Makes an empty instance.
     *
     * @param reviews reviews what owners with a subject may read; null if they may read nothing
     */
    Registrations(Set<Usage> followed, @Nullable CachedReviews reviews) {
        this.followed = followed;
        this.reviews = reviews;
    }

    /** Pods are identified by namespace, name and UID, all other owners by their UID. */
    private static Object identity(Referrer referrer) {
        PodKey pod = PodKey.ofOwner(referrer);
        return pod == null ? referrer.uid() : pod;
    }

    /** Returns the registration of a referrer; null if there is none. */
    private @Nullable Registration find(Referrer referrer) {
        return byReferrer.get(identity(referrer));
    }

    /** The objects of the kind of one manager that a referrer needs. */
    record Wanted(StoreManager<?> manager, ObjectNeeds needs) {}

    /** Returns the index of a new manager whose registrations are kept here. */
    int nextIndex() {
        return managers.getAndIncrement();
    }

    /**
     * Registers a pod, unless it is registered with these managers at its version.
     *
     * @param wantedBy returns what a pod needs of each of the managers; called outside all locks
     */
    void registerPod(Pod pod, ImmutableList<StoreManager<?>> with, Function<Pod, ImmutableList<Wanted>> wantedBy) {
        PodKey key = PodReferences.registrableKey(pod);
        String version = Strings.nullToEmpty(pod.getMetadata().getResourceVersion());
        Registration known = byReferrer.get(key);
        if (known == null || !known.isAt(version, with)) {
            register(key, version, wantedBy.apply(pod));
        }
    }

    /**
     * Has a referrer hold {@code wanted}, of these kinds. If a store throws while references are added, the exception is
     * rethrown and nothing has changed.
     *
     * @param version of a pod; empty for other referrers
     * @throws IllegalArgumentException if the referrer has no UID
     */
    void register(Referrer referrer, String version, ImmutableList<Wanted> wanted) {
        if (Strings.isNullOrEmpty(referrer.uid())) {
            throw new IllegalArgumentException("referrer " + Quoted.text(referrer.toString())
                    + " has no uid: give it an identifier that no other owner has, such as metadata.uid");
        }
        List<Runnable> effects = new ArrayList<>();
        try {
            boolean updated = wanted.isEmpty();
            while (!updated) {
                Registration registration =
                        byReferrer.computeIfAbsent(identity(referrer), first -> new Registration(referrer));
                try {
                    updated = registration.update(referrer, version, wanted, effects::add);
                } finally {
                    // if another thread released it, that one removes it too: this saves waiting for it
                    forgetIfReleased(referrer, registration);
                }
            }
        } finally {
            runAll(effects, referrer);
        }
    }

    /** Releases what a referrer holds with these managers. Ignores one that is not registered. */
    void unregister(Referrer referrer, ImmutableList<StoreManager<?>> with) {
        Registration registration = find(referrer);
        if (registration == null) {
            return;
        }
        List<Runnable> effects = new ArrayList<>();
        try {
            registration.release(with, effects::add);
        } finally {
            forgetIfReleased(referrer, registration);
            runAll(effects, referrer);
        }
    }

    /** Forgets a registration if it was released, by whatever call. */
    private void forgetIfReleased(Referrer referrer, Registration registration) {
        if (registration.isReleased()) {
            byReferrer.remove(identity(referrer), registration);
        }
    }

    /** Runs effects. The registration stands whatever they throw: the next get of an object tries again. */
    private static void runAll(List<Runnable> effects, Referrer referrer) {
        for (Runnable effect : effects) {
            try {
                effect.run();
            } catch (Throwable e) {
                log.error(
                        "what follows from a change of the references of {} failed for one object; its next get tries it"
                                + " again",
                        referrer,
                        e);
            }
        }
    }

    /**
     * Returns whether the reviews are closed, as a cache does when it is closed: then no owner with a subject may read, which
     * says nothing of its subject.
     */
    boolean isClosed() {
        return reviews != null && reviews.isClosed();
    }

    /** Returns the number of referrers that are remembered. */
    int size() {
        return byReferrer.size();
    }

    /** Returns what a referrer uses an object of a manager for; empty if it does not say, or holds it no longer. */
    Set<Usage> usages(Referrer referrer, StoreManager<?> manager, ObjectKey key) {
        Registration registration = find(referrer);
        return registration == null
                ? Set.of()
                : registration.held.needs(manager).usagesOf(key);
    }

    /** Returns an owner as it was registered, with its subject, or as it is given if it is not registered. */
    Referrer registered(Referrer owner) {
        Registration registration = find(owner);
        OwnerHolds held = registration == null ? null : registration.held;
        return held == null || held.isEmpty() ? owner : held.owner;
    }

    /** Returns the same once no call is changing what the owner holds. */
    Referrer registeredAfterChanges(Referrer owner) {
        Registration registration = find(owner);
        OwnerHolds held = registration == null ? null : registration.heldAfterChanges();
        return held == null || held.isEmpty() ? owner : held.owner;
    }

    /**
     * Returns the hold of an owner on an object, for a read of that owner; null if there is none. If there is one, this takes
     * no lock and allocates nothing; otherwise it waits until no call is changing what the owner holds.
     *
     * @throws IllegalArgumentException if the owner is registered with another subject
     */
    @Nullable
    ReadHold holdFor(Referrer reader, StoreManager<?> manager, String namespace, String name) {
        Registration registration = find(reader);
        if (registration == null) {
            return null;
        }
        OwnerHolds held = registration.held;
        ReadHold hold = held.isOf(reader) ? held.find(manager, namespace, name) : null;
        if (hold == null) {
            held = registration.heldAfterChanges();
            if (!held.isEmpty() && !held.isOf(reader)) {
                throw new IllegalArgumentException(Quoted.text(reader.toString()) + " is registered "
                        + behalf(held.owner) + ", but this read is " + behalf(reader)
                        + ": read with the referrer that was registered");
            }
            hold = held.find(manager, namespace, name);
        }
        return hold;
    }

    private static String behalf(Referrer owner) {
        return owner.isOnBehalf()
                ? "on behalf of " + owner.subject().map(Subject::toString).orElse("nobody")
                : "without a subject";
    }

    private static boolean isSameSubject(Referrer one, Referrer other) {
        return one.isOnBehalf() == other.isOnBehalf() && one.subject().equals(other.subject());
    }

    /** An owner as it was registered, and its hold on an object. */
    record Holder(Referrer owner, ReadHold hold) {}

    /** Returns who holds an object with a reference; null if he does not any more. Waits as {@link #holdFor}. */
    @Nullable
    Holder holder(Referrer owner, StoreManager<?> manager, ObjectKey key) {
        Registration registration = find(owner);
        if (registration == null) {
            return null;
        }
        OwnerHolds held = registration.held;
        ReadHold hold = held.find(manager, key.namespace(), key.name());
        if (hold == null) {
            held = registration.heldAfterChanges();
            hold = held.find(manager, key.namespace(), key.name());
        }
        return hold == null ? null : new Holder(held.owner, hold);
    }

    /** What an owner holds of one object: whether it may read the object now. Thread-safe. */
    static final class ReadHold {

        /** That of an owner without a subject. */
        static final ReadHold FREE = new ReadHold(true, null, "");

        private final boolean free;
        private final CachedReviews.@Nullable Followed right;
        private final String reason;
        private volatile boolean closed;

        // by number, because a future has no equality; guarded by this, and null before the first
        private @Nullable Map<Long, CompletableFuture<Void>> waiting;

        private long lastNumber; // guarded by this

        private ReadHold(boolean free, CachedReviews.@Nullable Followed right, String reason) {
            this.free = free;
            this.right = right;
            this.reason = reason;
        }

        static ReadHold denied(String reason) {
            return new ReadHold(false, null, reason);
        }

        static ReadHold of(CachedReviews.Followed right) {
            return new ReadHold(false, right, "");
        }

        /** Returns whether the owner may read now. Takes no lock and allocates nothing. */
        boolean isAllowed() {
            CachedReviews.Followed review = right;
            return !closed && (review == null ? free : review.isAllowed());
        }

        /** Returns whether it is known whether the owner may read. */
        boolean isDecided() {
            return right == null || right.decided().isDone();
        }

        /**
         * Returns a future of its own for each caller, which completes when {@link #isDecided}, or closed; null if it is
         * either. Whoever gives up before completes it: this keeps only those that are not complete, so that reads which have
         * ended do not pile up while the API server does not answer.
         */
        @Nullable
        CompletableFuture<Void> undecided() {
            CachedReviews.Followed review = right;
            if (review == null || isOver(review)) {
                return null;
            }
            CompletableFuture<Void> wait = new CompletableFuture<>();
            boolean first;
            long number;
            synchronized (this) {
                first = waiting == null;
                Map<Long, CompletableFuture<Void>> all = waiting == null ? new HashMap<>() : waiting;
                number = ++lastNumber;
                all.put(number, wait);
                waiting = all;
            }
            wait.whenComplete((ended, failure) -> forget(number));
            if (first) {
                review.decided().whenComplete((decided, failure) -> wake());
            }
            if (isOver(review)) {
                wake();
            }
            return wait;
        }

        private boolean isOver(CachedReviews.Followed review) {
            return closed || review.decided().isDone();
        }

        private synchronized void forget(long number) {
            if (waiting != null) {
                waiting.remove(number);
            }
        }

        private void wake() {
            List<CompletableFuture<Void>> all;
            synchronized (this) {
                all = waiting == null ? List.of() : List.copyOf(waiting.values());
            }
            all.forEach(wait -> wait.complete(null));
        }

        /** Returns how many futures of {@link #undecided} are not complete. */
        synchronized int waits() {
            return waiting == null ? 0 : waiting.size();
        }

        /** Returns how many actions wait until it is decided. */
        int dependents() {
            return right == null ? 0 : right.decided().getNumberOfDependents();
        }

        /** Returns why the owner may not read. */
        String reason() {
            return closed
                    ? "the owner was unregistered, or registered again, meanwhile"
                    : right == null ? reason : right.reason();
        }

        /** Returns the failure of the last review; null if that was answered, or there was none. */
        @Nullable
        Throwable failure() {
            return right == null ? null : right.failure();
        }

        /** Returns whether the owner holds the object no longer, or with another subject. */
        boolean isClosed() {
            return closed;
        }

        private void close(Consumer<Runnable> effects) {
            closed = true;
            if (right != null) {
                right.close();
                effects.accept(this::wake);
            }
        }
    }

    /** Returns whether an owner with these needs needs the changes of an object. */
    private boolean isFollowed(ObjectKey key, ObjectNeeds needs) {
        if (followed.isEmpty()) {
            return true;
        }
        Set<Usage> usages = needs.usagesOf(key);
        return usages.isEmpty() || needs.isUnnamedToo(key) || !Collections.disjoint(usages, followed);
    }

    private ReadHold newHold(Referrer owner, StoreManager<?> manager, ObjectKey key, Consumer<Runnable> effects) {
        Subject subject = owner.subject().orElse(null);
        if (subject == null) {
            return ReadHold.denied("the owner was registered on behalf of nobody");
        }
        if (reviews == null) {
            return ReadHold.denied("this cache reviews nothing");
        }
        if (!manager.store.kind().isLegal(key)) {
            return ReadHold.denied("its name is not legal");
        }
        return ReadHold.of(reviews.follow(
                subject,
                ResourceAccess.of(manager.store.kind(), key, "get"),
                () -> manager.rightChanged(key),
                effects));
    }

    /**
     * What an owner holds of one kind.
     *
     * <p>An owner without a subject has no holds; its table is made when it first reads.
     */
    private static final class HeldKeys {

        private final StoreManager<?> manager;
        private final String version; // of the pod; empty for other referrers
        private final ObjectNeeds needs;
        private final @Nullable Map<ObjectKey, ReadHold> holds;
        private volatile @Nullable HoldTable table;

        /**
         * Holds by namespace and name: a lookup needs no key. Most owners hold objects of one namespace, here the first, which
         * saves a hit one lookup.
         */
        private record HoldTable(
                String first, Map<String, ReadHold> inFirst, Map<String, Map<String, ReadHold>> inOthers) {

            @Nullable
            ReadHold find(String namespace, String name) {
                if (first.equals(namespace)) {
                    return inFirst.get(name);
                }
                Map<String, ReadHold> byName = inOthers.get(namespace);
                return byName == null ? null : byName.get(name);
            }
        }

        HeldKeys(StoreManager<?> manager, String version, ObjectNeeds needs, @Nullable Map<ObjectKey, ReadHold> holds) {
            this.manager = manager;
            this.version = version;
            this.needs = needs;
            this.holds = holds;
        }

        @Nullable
        ReadHold find(String namespace, String name) {
            HoldTable made = table;
            return (made == null ? makeTable() : made).find(namespace, name);
        }

        private HoldTable makeTable() {
            Map<String, Map<String, ReadHold>> byNamespace = new HashMap<>();
            for (ObjectKey key : needs.keys()) {
                ReadHold hold = holds == null ? ReadHold.FREE : holds.get(key);
                if (hold != null) {
                    byNamespace
                            .computeIfAbsent(key.namespace(), first -> new HashMap<>())
                            .put(key.name(), hold);
                }
            }
            String first = byNamespace.keySet().stream().findFirst().orElse("");
            Map<String, ReadHold> inFirst = byNamespace.remove(first);
            HoldTable made = new HoldTable(first, inFirst == null ? Map.of() : inFirst, byNamespace);
            table = made;
            return made;
        }
    }

    /** Who an owner is, and what it holds of each kind, by index of the manager. Immutable. */
    private static final class OwnerHolds {

        private final Referrer owner;
        private final @Nullable HeldKeys[] byManager; // not changed

        OwnerHolds(Referrer owner, @Nullable HeldKeys[] byManager) {
            this.owner = owner;
            this.byManager = byManager;
        }

        /** Returns the same without any hold, and at no version. */
        OwnerHolds unreadable() {
            @Nullable HeldKeys[] none = new HeldKeys[byManager.length];
            for (int i = 0; i < none.length; i++) {
                HeldKeys ofKind = byManager[i];
                none[i] = ofKind == null ? null : new HeldKeys(ofKind.manager, "", ofKind.needs, Map.of());
            }
            return new OwnerHolds(owner, none);
        }

        boolean isOf(Referrer reader) {
            return owner == reader || isSameSubject(owner, reader);
        }

        @Nullable
        ReadHold find(StoreManager<?> manager, String namespace, String name) {
            HeldKeys ofKind = at(manager);
            return ofKind == null ? null : ofKind.find(namespace, name);
        }

        @Nullable
        HeldKeys at(StoreManager<?> manager) {
            return manager.index < byManager.length ? byManager[manager.index] : null;
        }

        ObjectNeeds needs(StoreManager<?> manager) {
            HeldKeys ofKind = at(manager);
            return ofKind == null ? ObjectNeeds.NONE : ofKind.needs;
        }

        @Nullable
        ReadHold hold(StoreManager<?> manager, ObjectKey key) {
            HeldKeys ofKind = at(manager);
            return ofKind == null || ofKind.holds == null ? null : ofKind.holds.get(key);
        }

        boolean isEmpty() {
            for (HeldKeys ofKind : byManager) {
                if (ofKind != null) {
                    return false;
                }
            }
            return true;
        }
    }

    /** The references of one referrer, of all kinds. */
    private final class Registration {

        private final Referrer referrer; // as it was registered first: the stores know it so

        // Read without the monitor. Written after new references are added and before old ones are taken back: every
        // reference that it lists exists. An owner that gets a subject, or loses it, is without holds until then.
        private volatile OwnerHolds held; // written under this
        private volatile boolean released; // written under this

        Registration(Referrer referrer) {
            this.referrer = referrer;
            this.held = new OwnerHolds(referrer, new HeldKeys[0]);
        }

        /** Returns what is held once no call is changing it: nothing if this is new, or released. */
        synchronized OwnerHolds heldAfterChanges() {
            return held;
        }

        /** Returns whether this version is not empty and is registered, without a subject, with each of the managers. */
        synchronized boolean isAt(String version, ImmutableList<StoreManager<?>> with) {
            OwnerHolds known = held;
            if (known.owner.isOnBehalf()) {
                return false;
            }
            for (int i = 0; i < with.size(); i++) {
                HeldKeys ofKind = known.at(with.get(i));
                if (version.isEmpty() || ofKind == null || !version.equals(ofKind.version)) {
                    return false;
                }
            }
            return true;
        }

        /**
         * Replaces the references of these kinds by {@code wanted}, and the owner by {@code owner}. Returns false, without
         * effect, if the registration was released before.
         */
        synchronized boolean update(
                Referrer owner, String version, ImmutableList<Wanted> wanted, Consumer<Runnable> effects) {
            if (released) {
                return false;
            }
            OwnerHolds before = held;
            boolean same = isSameSubject(before.owner, owner);
            ImmutableList<Wanted> all = same ? wanted : withOtherKinds(before, owner, wanted);
            boolean restrictionChanges = before.owner.isOnBehalf() != owner.isOnBehalf();
            // new references first, so that an object in both sets always has one
            List<ReadHold> newHolds = new ArrayList<>();
            OwnerHolds after = before;
            int added = 0;
            boolean complete = false;
            try {
                if (restrictionChanges) {
                    held = before.unreadable();
                }
                for (Wanted ofKind : all) {
                    for (ObjectKey key : ofKind.needs.keys()) {
                        if (isNew(key, ofKind.needs, owner, before.needs(ofKind.manager), before.owner)) {
                            ofKind.manager.store.addReference(key, reference(key, ofKind.needs, owner), effects);
                            added++;
                        }
                    }
                }
                after = heldAfter(before, owner, same, version, wanted, all, newHolds, effects);
                complete = true;
                if (!restrictionChanges) {
                    held = after;
                }
                takeBackOldLocked(before, after, owner, all, effects);
            } finally {
                try {
                    if (!complete) {
                        takeBackLocked(added, before, owner, all, effects);
                        newHolds.forEach(hold -> hold.close(effects));
                    }
                } finally {
                    held = after;
                    released = after.isEmpty();
                }
            }
            return true;
        }

        /** Takes back the references of {@code before} that are not in {@code after}, and closes their holds. */
        private void takeBackOldLocked(
                OwnerHolds before,
                OwnerHolds after,
                Referrer owner,
                ImmutableList<Wanted> all,
                Consumer<Runnable> effects) {
            Throwable thrown = null;
            for (Wanted ofKind : all) {
                ObjectNeeds old = before.needs(ofKind.manager);
                for (ObjectKey key : old.keys()) {
                    try {
                        if (isNew(key, old, before.owner, ofKind.needs, owner)) {
                            ofKind.manager.store.deleteReference(key, reference(key, old, before.owner), effects);
                        }
                    } catch (Throwable e) {
                        thrown = thrown == null ? e : thrown;
                    }
                    ReadHold hold = before.hold(ofKind.manager, key);
                    try {
                        if (hold != null && hold != after.hold(ofKind.manager, key)) {
                            hold.close(effects);
                            effects.accept(() -> ofKind.manager.rightChanged(key));
                        }
                    } catch (Throwable e) {
                        thrown = thrown == null ? e : thrown;
                    }
                }
            }
            rethrow(thrown);
        }

        /** Rethrows what one of several deletions has thrown, if any: the others were made all the same. */
        private static void rethrow(@Nullable Throwable thrown) {
            if (thrown != null) {
                Throwables.throwIfUnchecked(thrown);
                throw new IllegalStateException("a store threw a checked exception", thrown);
            }
        }

        /** Adds the kinds that a registration does not name, which get another subject too. */
        private ImmutableList<Wanted> withOtherKinds(OwnerHolds before, Referrer owner, ImmutableList<Wanted> wanted) {
            ImmutableList.Builder<Wanted> all = ImmutableList.<Wanted>builder().addAll(wanted);
            for (HeldKeys ofKind : before.byManager) {
                if (ofKind != null && wanted.stream().noneMatch(named -> named.manager == ofKind.manager)) {
                    all.add(ofKind.manager.wanted(owner, ofKind.needs));
                }
            }
            return all.build();
        }

        private OwnerHolds heldAfter(
                OwnerHolds before,
                Referrer owner,
                boolean same,
                String version,
                ImmutableList<Wanted> wanted,
                ImmutableList<Wanted> all,
                List<ReadHold> newHolds,
                Consumer<Runnable> effects) {
            int length = before.byManager.length;
            for (Wanted ofKind : all) {
                length = Math.max(length, ofKind.manager.index + 1);
            }
            @Nullable HeldKeys[] after = Arrays.copyOf(before.byManager, length);
            for (Wanted ofKind : all) {
                StoreManager<?> manager = ofKind.manager;
                HeldKeys old = before.at(manager);
                String newVersion = wanted.contains(ofKind) || old == null ? version : old.version;
                boolean nothing = ofKind.needs.keys().isEmpty() && (newVersion.isEmpty() || !manager.keepsReferences());
                Map<ObjectKey, ReadHold> holds = owner.isOnBehalf() ? new HashMap<>() : null;
                if (holds != null) {
                    for (ObjectKey key : ofKind.needs.keys()) {
                        ReadHold known = same ? before.hold(manager, key) : null;
                        ReadHold hold = known == null ? newHold(owner, manager, key, effects) : known;
                        if (known == null) {
                            newHolds.add(hold);
                            effects.accept(() -> manager.rightChanged(key));
                        }
                        holds.put(key, hold);
                    }
                }
                after[manager.index] = nothing ? null : new HeldKeys(manager, newVersion, ofKind.needs, holds);
            }
            return new OwnerHolds(owner, after);
        }

        /** Returns whether nothing is held any more, so this registration is unusable. */
        boolean isReleased() {
            return released;
        }

        /** Takes back the first {@code added} references that were added. */
        private void takeBackLocked(
                int added,
                OwnerHolds before,
                Referrer owner,
                ImmutableList<Wanted> wanted,
                Consumer<Runnable> effects) {
            Throwable thrown = null;
            int left = added;
            for (Wanted ofKind : wanted) {
                for (ObjectKey key : ofKind.needs.keys()) {
                    if (left > 0 && isNew(key, ofKind.needs, owner, before.needs(ofKind.manager), before.owner)) {
                        left--;
                        try {
                            ofKind.manager.store.deleteReference(key, reference(key, ofKind.needs, owner), effects);
                        } catch (Throwable e) {
                            thrown = thrown == null ? e : thrown;
                        }
                    }
                }
            }
            rethrow(thrown);
        }

        /** Releases the references of these managers. */
        synchronized void release(ImmutableList<StoreManager<?>> managers, Consumer<Runnable> effects) {
            OwnerHolds before = held;
            @Nullable HeldKeys[] after = before.byManager.clone();
            for (StoreManager<?> manager : managers) {
                if (manager.index < after.length) {
                    after[manager.index] = null;
                }
            }
            held = new OwnerHolds(before.owner, after);
            Throwable thrown = null;
            for (StoreManager<?> manager : managers) {
                ObjectNeeds needs = before.needs(manager);
                for (ObjectKey key : needs.keys()) {
                    try {
                        manager.store.deleteReference(key, reference(key, needs, before.owner), effects);
                    } catch (Throwable e) {
                        thrown = thrown == null ? e : thrown;
                    }
                    ReadHold hold = before.hold(manager, key);
                    try {
                        if (hold != null) {
                            hold.close(effects);
                        }
                    } catch (Throwable e) {
                        thrown = thrown == null ? e : thrown;
                    }
                }
            }
            released = held.isEmpty();
            rethrow(thrown);
        }

        /** Returns whether the owner before lacked the reference that an owner has for {@code key}. */
        private boolean isNew(
                ObjectKey key, ObjectNeeds needs, Referrer owner, ObjectNeeds before, Referrer ownerBefore) {
            return !before.keys().contains(key)
                    || !reference(key, needs, owner).equals(reference(key, before, ownerBefore));
        }

        private Referrer reference(ObjectKey key, ObjectNeeds needs, Referrer owner) {
            Referrer reference = isFollowed(key, needs) ? referrer : new Unfollowed(referrer);
            return owner.isOnBehalf() ? new Restricted(reference) : reference;
        }
    }

    /** The objects of one kind that a referrer needs, each with what for: nothing if no need of it says so. Not changed. */
    static final class ObjectNeeds {

        static final ObjectNeeds NONE = new ObjectNeeds(Map.of(), Set.of());

        // there are few combinations of usages, and many references
        private static final Interner<ImmutableSet<Usage>> COMBINATIONS = Interners.newStrongInterner();
        private static final ImmutableMap<Usage, ImmutableSet<Usage>> SINGLE = Maps.immutableEnumMap(
                Maps.toMap(EnumSet.allOf(Usage.class), usage -> COMBINATIONS.intern(Sets.immutableEnumSet(usage))));

        // as it was gathered: a copy would be a fifth of what a registration allocates
        private final Map<ObjectKey, ImmutableSet<Usage>> usages;

        /** Those of the objects of which one need says what for, and another does not. Pods have none. */
        private final Set<ObjectKey> unnamedToo;

        private ObjectNeeds(Map<ObjectKey, ImmutableSet<Usage>> usages, Set<ObjectKey> unnamedToo) {
            this.usages = usages;
            this.unnamedToo = unnamedToo;
        }

        /** Returns needs that do not say what for. */
        static ObjectNeeds of(Set<ObjectKey> keys) {
            Gathering gathering = new Gathering();
            keys.forEach(key -> gathering.add(key, null));
            return gathering.needs();
        }

        /** Returns the needs of a pod for Secrets. */
        static ObjectNeeds ofSecrets(Pod pod) {
            Gathering secrets = new Gathering();
            PodReferences.forEach(pod, secrets::add, (key, usage) -> {});
            return secrets.needs();
        }

        /** Returns the needs of a pod for ConfigMaps. */
        static ObjectNeeds ofConfigMaps(Pod pod) {
            Gathering configMaps = new Gathering();
            PodReferences.forEach(pod, (key, usage) -> {}, configMaps::add);
            return configMaps.needs();
        }

        /** Gathers needs one by one, until they are asked for. For one thread. */
        static final class Gathering {

            private final Map<ObjectKey, ImmutableSet<Usage>> usages = new LinkedHashMap<>(8);
            private @Nullable Set<ObjectKey> unnamedToo; // made on demand

            /** Adds a need, which may not say what for. */
            void add(ObjectKey key, @Nullable Usage usage) {
                ImmutableSet<Usage> added =
                        usage == null ? ImmutableSet.of() : SINGLE.getOrDefault(usage, ImmutableSet.of());
                ImmutableSet<Usage> before =
                        usages.putIfAbsent(Objects.requireNonNull(key, "one of the objects is null"), added);
                if (before == null) {
                    return;
                }
                if (before.isEmpty() != added.isEmpty()) {
                    // both together name a usage, and do not show any more that one need names none
                    if (unnamedToo == null) {
                        unnamedToo = new HashSet<>(2);
                    }
                    unnamedToo.add(key);
                }
                usages.put(key, both(before, added));
            }

            private static ImmutableSet<Usage> both(ImmutableSet<Usage> one, ImmutableSet<Usage> other) {
                return one.containsAll(other)
                        ? one
                        : COMBINATIONS.intern(Sets.immutableEnumSet(Sets.union(one, other)));
            }

            ObjectNeeds needs() {
                return usages.isEmpty() ? NONE : new ObjectNeeds(usages, unnamedToo == null ? Set.of() : unnamedToo);
            }
        }

        Set<ObjectKey> keys() {
            return usages.keySet();
        }

        /** Returns what an object is needed for; empty if no need of it says so. */
        Set<Usage> usagesOf(ObjectKey key) {
            return usages.getOrDefault(key, ImmutableSet.of());
        }

        /** Returns whether an object is needed for what {@link #usagesOf} says, and also without saying what for. */
        boolean isUnnamedToo(ObjectKey key) {
            return unnamedToo.contains(key);
        }
    }
}
