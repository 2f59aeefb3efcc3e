package dev.podcache.kubelet.events;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map of the 4096 most recently used entries, as large as client-go's caches of events. */
final class RecentlyUsed<K, V> extends LinkedHashMap<K, V> {

    private static final long serialVersionUID = 1;
    private static final int MAX_SIZE = 4096;

    RecentlyUsed() {
        super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > MAX_SIZE;
    }
}
