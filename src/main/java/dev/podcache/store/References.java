package dev.podcache.store;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import dev.podcache.object.Referrer;

/**
 * Who refers to an object, and how often. A multiset cannot hold less than nothing: a delete without an add is a no-op, where
 * the kubelet's map of counts can go to -1 and then never lets go of the entry. Not thread-safe: guarded by the entry.
 */
final class References {

    private final Multiset<Referrer> referrers = HashMultiset.create(2);

    void add(Referrer referrer) {
        referrers.add(referrer);
    }

    /** Whether there was one to take back. */
    boolean delete(Referrer referrer) {
        return referrers.remove(referrer);
    }

    int count() {
        return referrers.size();
    }
}
