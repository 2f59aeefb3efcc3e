package dev.podcache.manager;

import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.Store;

/** What one referrer holds, from its first registration until it is released. */
final class Registration {

    /*
     * All changes of what one referrer holds go through its monitor, so that the store sees them one after the other:
     * an unregister can never take back a reference before the register that it undoes has added it. The calls to the
     * store under the monitor are its reference calls, which neither block nor call back.
     *
     * `version` is read without the monitor, to tell quickly that a pod has not changed. It is written after the
     * references are held and cleared before they are let go, so who reads the version knows that they are held.
     */

    private final Referrer referrer;
    private volatile String version = "";
    private ImmutableSet<ObjectKey> held = ImmutableSet.of(); // guarded by this
    private boolean released; // guarded by this

    Registration(Referrer referrer) {
        this.referrer = referrer;
    }

    /** Whether exactly this version, which is not empty, is the one that is registered. */
    boolean isAt(String candidate) {
        return !candidate.isEmpty() && candidate.equals(version);
    }

    /** Holds {@code wanted} from now on, and nothing else; false, and nothing done, if it was released before. */
    synchronized boolean update(String newVersion, ImmutableSet<ObjectKey> wanted, Store<?> store) {
        if (released) {
            return false;
        }
        // new ones first, so that an object in both sets is never without a reference
        for (ObjectKey key : wanted) {
            if (!held.contains(key)) {
                store.addReference(key, referrer);
            }
        }
        for (ObjectKey key : held) {
            if (!wanted.contains(key)) {
                store.deleteReference(key, referrer);
            }
        }
        held = wanted;
        version = newVersion;
        return true;
    }

    /** Lets go of everything, for good. */
    synchronized void release(Store<?> store) {
        released = true;
        version = "";
        for (ObjectKey key : held) {
            store.deleteReference(key, referrer);
        }
        held = ImmutableSet.of();
    }
}
