package dev.podcache.manager;

import com.google.common.collect.ImmutableList;
import dev.podcache.manager.Registrations.Wanted;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.Unfollowed;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The references of one referrer, of all kinds, from its first registration until it holds none. */
final class Registration {

    /*
     * All changes of a referrer's references are made under this monitor, so the stores see them one after the other:
     * an unregister cannot take back a reference before the concurrent register has added it. Under the monitor, only
     * addReference and deleteReference of the stores are called. They neither block nor call back.
     *
     * `held` is read without the monitor, to detect an unchanged pod quickly. It is written after new references are
     * added and before old ones are taken back, so every reference that it lists exists.
     */

    private final Referrer referrer;
    private volatile @Nullable HeldKeys[] held = {}; // by index of the manager; written under this
    private boolean released; // guarded by this; nothing is held, and never will be

    Registration(Referrer referrer) {
        this.referrer = referrer;
    }

    /** The needs of one kind, and the version of the pod, which is empty for other referrers. */
    private record HeldKeys(String version, ObjectNeeds needs) {}

    /** Returns whether this version is not empty and is registered with each of the managers. */
    boolean isAt(String version, ImmutableList<StoreManager<?>> managers) {
        @Nullable HeldKeys[] known = held;
        for (int i = 0; i < managers.size(); i++) {
            HeldKeys ofKind = at(known, managers.get(i));
            if (version.isEmpty() || ofKind == null || !version.equals(ofKind.version)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Replaces the references of these kinds by {@code wanted}. Returns false, without effect, if the registration was
     * released before. If a store throws while references are added, the exception is rethrown and nothing has changed.
     */
    synchronized boolean update(String version, ImmutableList<Wanted> wanted) {
        if (released) {
            return false;
        }
        @Nullable HeldKeys[] before = held;
        // new references first, so that an object in both sets always has one
        addNewLocked(before, wanted);
        int length = before.length;
        for (Wanted ofKind : wanted) {
            length = Math.max(length, ofKind.manager().index + 1);
        }
        @Nullable HeldKeys[] after = Arrays.copyOf(before, length);
        for (Wanted ofKind : wanted) {
            after[ofKind.manager().index] =
                    version.isEmpty() && ofKind.keys().isEmpty() ? null : new HeldKeys(version, ofKind.needs());
        }
        held = after;
        for (Wanted ofKind : wanted) {
            ObjectNeeds old = needs(before, ofKind.manager());
            for (ObjectKey key : old.keys()) {
                if (isNew(key, old, ofKind.needs(), ofKind.manager())) {
                    ofKind.manager().store.deleteReference(key, reference(key, old, ofKind.manager()));
                }
            }
        }
        released = isEmpty(after);
        return true;
    }

    /** Returns whether nothing is held any more, so this registration is unusable. */
    synchronized boolean isReleased() {
        return released;
    }

    private static boolean isEmpty(@Nullable HeldKeys[] held) {
        return Arrays.stream(held).allMatch(ofKind -> ofKind == null);
    }

    private void addNewLocked(@Nullable HeldKeys[] before, ImmutableList<Wanted> wanted) {
        int added = 0;
        try {
            for (Wanted ofKind : wanted) {
                ObjectNeeds known = needs(before, ofKind.manager());
                for (ObjectKey key : ofKind.keys()) {
                    if (isNew(key, ofKind.needs(), known, ofKind.manager())) {
                        ofKind.manager().store.addReference(key, reference(key, ofKind.needs(), ofKind.manager()));
                        added++;
                    }
                }
            }
        } catch (RuntimeException | Error e) {
            takeBack(added, before, wanted);
            released = isEmpty(before);
            throw e;
        }
    }

    /** Takes back the first {@code added} references that {@link #addNewLocked} added. */
    private void takeBack(int added, @Nullable HeldKeys[] before, ImmutableList<Wanted> wanted) {
        int left = added;
        for (Wanted ofKind : wanted) {
            ObjectNeeds known = needs(before, ofKind.manager());
            for (ObjectKey key : ofKind.keys()) {
                if (left > 0 && isNew(key, ofKind.needs(), known, ofKind.manager())) {
                    ofKind.manager().store.deleteReference(key, reference(key, ofKind.needs(), ofKind.manager()));
                    left--;
                }
            }
        }
    }

    /** Releases the references of these managers. Returns whether the registration {@link #isReleased}. */
    synchronized boolean release(ImmutableList<StoreManager<?>> managers) {
        @Nullable HeldKeys[] before = held;
        @Nullable HeldKeys[] after = before.clone();
        for (StoreManager<?> manager : managers) {
            if (manager.index < after.length) {
                after[manager.index] = null;
            }
        }
        held = after;
        for (StoreManager<?> manager : managers) {
            ObjectNeeds needs = needs(before, manager);
            for (ObjectKey key : needs.keys()) {
                manager.store.deleteReference(key, reference(key, needs, manager));
            }
        }
        released = isEmpty(after);
        return released;
    }

    /** Returns what is held with a manager. */
    ObjectNeeds needs(StoreManager<?> manager) {
        return needs(held, manager);
    }

    private static ObjectNeeds needs(@Nullable HeldKeys[] held, StoreManager<?> manager) {
        HeldKeys ofKind = at(held, manager);
        return ofKind == null ? ObjectNeeds.NONE : ofKind.needs;
    }

    /** Returns whether {@code before} lacks the reference that {@code needs} has for {@code key}. */
    private boolean isNew(ObjectKey key, ObjectNeeds needs, ObjectNeeds before, StoreManager<?> manager) {
        return !before.keys().contains(key) || !reference(key, needs, manager).equals(reference(key, before, manager));
    }

    private Referrer reference(ObjectKey key, ObjectNeeds needs, StoreManager<?> manager) {
        return manager.follows(needs.usagesOf(key)) ? referrer : new Unfollowed(referrer);
    }

    private static @Nullable HeldKeys at(@Nullable HeldKeys[] held, StoreManager<?> manager) {
        return manager.index < held.length ? held[manager.index] : null;
    }
}
