package dev.podcache.manager;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Usage;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The objects of one kind that a referrer needs, and what it needs each for. Immutable. */
final class ObjectNeeds {

    static final ObjectNeeds NONE = of(ImmutableSet.of());

    final ImmutableSet<ObjectKey> keys;

    // by the position of the key, one bit for each usage; empty if no need says its usage
    private final byte[] usages;

    private ObjectNeeds(ImmutableSet<ObjectKey> keys, byte[] usages) {
        this.keys = keys;
        this.usages = usages;
    }

    /** Returns needs that do not say what for. */
    static ObjectNeeds of(Set<ObjectKey> keys) {
        return new ObjectNeeds(ImmutableSet.copyOf(keys), new byte[0]);
    }

    /** Gathers needs one by one. For one thread. */
    static final class Gathering {

        private final Map<ObjectKey, Byte> usagesByKey = new LinkedHashMap<>();

        /** Adds a need. */
        void add(ObjectKey key, @Nullable Usage usage) {
            int bit = usage == null ? 0 : 1 << usage.ordinal();
            usagesByKey.merge(key, (byte) bit, (before, added) -> (byte) (before | added));
        }

        ObjectNeeds needs() {
            byte[] usages = new byte[usagesByKey.size()];
            int i = 0;
            for (byte usage : usagesByKey.values()) {
                usages[i++] = usage;
            }
            return new ObjectNeeds(ImmutableSet.copyOf(usagesByKey.keySet()), usages);
        }
    }

    /** Returns what an object is needed for; empty if no need of it says so. */
    Set<Usage> usagesOf(ObjectKey key) {
        int at = usages.length == 0 ? -1 : keys.asList().indexOf(key);
        int bits = at < 0 ? 0 : usages[at];
        return Arrays.stream(Usage.values())
                .filter(usage -> (bits & 1 << usage.ordinal()) != 0)
                .collect(Sets.toImmutableEnumSet());
    }
}
