package dev.podcache.manager;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import com.google.common.collect.Sets;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Usage;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one kind that a referrer needs. Immutable.
 *
 * @param usages by object: what it is needed for; empty if no need of it says so
 */
record ObjectNeeds(ImmutableMap<ObjectKey, ImmutableSet<Usage>> usages) {

    static final ObjectNeeds NONE = of(Set.of());

    // there are few combinations of usages, and many references
    private static final Interner<ImmutableSet<Usage>> COMBINATIONS = Interners.newStrongInterner();

    /** Returns needs that do not say what for. */
    static ObjectNeeds of(Set<ObjectKey> keys) {
        ImmutableMap.Builder<ObjectKey, ImmutableSet<Usage>> usages = ImmutableMap.builderWithExpectedSize(keys.size());
        keys.forEach(key -> usages.put(key, ImmutableSet.of()));
        return new ObjectNeeds(usages.buildOrThrow());
    }

    /** Gathers needs one by one. For one thread. */
    static final class Gathering {

        private final Map<ObjectKey, EnumSet<Usage>> usages = new LinkedHashMap<>();

        /** Adds a need, which may not say what for. */
        void add(ObjectKey key, @Nullable Usage usage) {
            EnumSet<Usage> ofKey = usages.computeIfAbsent(key, first -> EnumSet.noneOf(Usage.class));
            if (usage != null) {
                ofKey.add(usage);
            }
        }

        ObjectNeeds needs() {
            ImmutableMap.Builder<ObjectKey, ImmutableSet<Usage>> needed =
                    ImmutableMap.builderWithExpectedSize(usages.size());
            usages.forEach((key, ofKey) -> needed.put(key, COMBINATIONS.intern(Sets.immutableEnumSet(ofKey))));
            return new ObjectNeeds(needed.buildOrThrow());
        }
    }

    ImmutableSet<ObjectKey> keys() {
        return usages.keySet();
    }

    /** Returns what an object is needed for; empty if no need of it says so. */
    Set<Usage> usagesOf(ObjectKey key) {
        return usages.getOrDefault(key, ImmutableSet.of());
    }
}
