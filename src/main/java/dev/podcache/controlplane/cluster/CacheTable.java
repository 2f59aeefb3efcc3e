package dev.podcache.controlplane.cluster;

import java.util.List;

/** The objects of one kind in a {@link ClusterCache}. Used by tasks of its loop only. */
interface CacheTable<T> {

    /** Replaces all objects. */
    void replace(List<T> objects);

    void put(T object);

    void remove(T last);
}
