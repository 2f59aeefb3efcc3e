package dev.podcache.kubelet.events;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that forgets what was least recently used beyond 4096 entries, as client-go's caches of events do. */
final class RecentlyUsed<K, V> extends LinkedHashMap<K, V> {

    private static final long serialVersionUID = 1;
    private static final int MOST = 4096;

    RecentlyUsed() {
        super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > MOST;
    }
}
