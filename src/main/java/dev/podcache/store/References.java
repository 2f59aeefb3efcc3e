package dev.podcache.store;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import dev.podcache.object.Referrer;
import org.jspecify.annotations.Nullable;

/**
 * Who refers to an object, and how often. A multiset cannot hold less than nothing: a delete without an add is
 * a no-op, where the kubelet's map of counts can go to -1 and then never lets go of the entry. Not
 * thread-safe: guarded by the entry.
 */
final class References {

    // most objects have one referrer, and a multiset of one weighs more than all the rest of the entry
    private @Nullable Referrer first;
    private int ofFirst;
    private @Nullable Multiset<Referrer> others;

    void add(Referrer referrer) {
        if (ofFirst == 0 || referrer.equals(first)) {
            first = referrer;
            ofFirst++;
            return;
        }
        if (others == null) {
            others = HashMultiset.create(2);
        }
        others.add(referrer);
    }

    /** Whether there was one to take back. */
    boolean delete(Referrer referrer) {
        if (!referrer.equals(first)) {
            return others != null && others.remove(referrer);
        }
        ofFirst--;
        if (ofFirst == 0) {
            first = null;
        }
        return true;
    }

    int count() {
        return ofFirst + (others == null ? 0 : others.size());
    }
}
