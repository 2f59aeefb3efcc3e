package dev.podcache.store;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.ResourceVersions;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The API server's last answer about an object: present or absent. Immutable, so one volatile field can publish it. */
abstract sealed class Answer<T> {

    /** The time of arrival, on the scale of {@code Timekeeper.nanoTime()}. */
    final long receivedAt;

    private Answer(long receivedAt) {
        this.receivedAt = receivedAt;
    }

    /** The object exists. */
    static final class Present<T> extends Answer<T> {
        final T object;
        final String resourceVersion;
        final int encodedBytes;
        final boolean immutable;

        Present(long receivedAt, T object, String resourceVersion, int encodedBytes, boolean immutable) {
            super(receivedAt);
            this.object = object;
            this.resourceVersion = resourceVersion;
            this.encodedBytes = encodedBytes;
            this.immutable = immutable;
        }

        /** Returns a copy with a new time of arrival and the object that callers already share. */
        Present<T> receivedAgain(long at) {
            return new Present<>(at, object, resourceVersion, encodedBytes, immutable);
        }

        /** Returns whether the answer arrived after {@code freshSince}, or the object is immutable. */
        boolean isFresh(long freshSince) {
            return receivedAt - freshSince > 0 || immutable;
        }
    }

    /** The object does not exist. */
    static final class Absent<T> extends Answer<T> {
        Absent(long receivedAt) {
            super(receivedAt);
        }
    }

    /** Returns whether a read from memory with that consistency may return this answer, which is {@code age} old. */
    final boolean meets(ReadConsistency consistency, @Nullable Duration age) {
        return consistency.isMetBy(this instanceof Present<T> present ? present.resourceVersion : "", age);
    }

    /**
     * Returns the object.
     *
     * @throws NotFound if it is absent
     */
    final T objectOf(ObjectKind<?> kind, ObjectKey key) {
        if (this instanceof Present<T> present) {
            return present.object;
        }
        throw new NotFound(kind, key, null);
    }

    /**
     * Stores equal payloads once: equal {@code data} and {@code binaryData} of Secrets and ConfigMaps become one
     * immutable map. Empty collections, namespaces, kinds, types and times of creation are shared too. Refers to the maps weakly: a map is
     * collected as garbage with the last object that has it. Thread-safe.
     */
    static final class SharedPayloads {

        private static final int TIMES = 256;

        private final Interner<Map<String, String>> payloads = Interners.newWeakInterner();
        private final @Nullable String[] times = new String[TIMES]; // a lost update costs no more than a second text

        /**
         * Replaces parts of an object by equal ones that are shared. No other thread may know the object yet. Reads the
         * payload once to hash it, and once more to compare it if an equal one is known.
         */
        void share(HasMetadata object) {
            if (object.getMetadata() != null) {
                share(object.getMetadata());
            }
            if (object instanceof Secret secret) {
                secret.setData(payload(secret.getData()));
                secret.setStringData(map(secret.getStringData()));
                secret.setAdditionalProperties(map(secret.getAdditionalProperties()));
                secret.setType(text(secret.getType()));
                secret.setKind(text(secret.getKind()));
                secret.setApiVersion(text(secret.getApiVersion()));
            } else if (object instanceof ConfigMap configMap) {
                configMap.setData(payload(configMap.getData()));
                configMap.setBinaryData(payload(configMap.getBinaryData()));
                configMap.setAdditionalProperties(map(configMap.getAdditionalProperties()));
                configMap.setKind(text(configMap.getKind()));
                configMap.setApiVersion(text(configMap.getApiVersion()));
            }
        }

        private void share(ObjectMeta metadata) {
            metadata.setCreationTimestamp(time(metadata.getCreationTimestamp()));
            metadata.setNamespace(text(metadata.getNamespace()));
            metadata.setAnnotations(map(metadata.getAnnotations()));
            metadata.setLabels(map(metadata.getLabels()));
            metadata.setFinalizers(list(metadata.getFinalizers()));
            metadata.setOwnerReferences(list(metadata.getOwnerReferences()));
            metadata.setAdditionalProperties(map(metadata.getAdditionalProperties()));
        }

        private @Nullable Map<String, String> payload(@Nullable Map<String, String> payload) {
            // an immutable map has no null values; the API server sends none
            if (payload == null
                    || payload.isEmpty()
                    || payload.values().stream().anyMatch(Objects::isNull)) {
                return map(payload);
            }
            // the JDK's map of one entry is half as large, but that of several has no order
            return payloads.intern(payload.size() == 1 ? Map.copyOf(payload) : ImmutableMap.copyOf(payload));
        }

        private static <V> @Nullable Map<String, V> map(@Nullable Map<String, V> map) {
            return map != null && map.isEmpty() ? Map.of() : map;
        }

        private static <V> @Nullable List<V> list(@Nullable List<V> list) {
            return list != null && list.isEmpty() ? List.of() : list;
        }

        /** Returns the text, or an equal one of the last: objects are often created together. */
        private @Nullable String time(@Nullable String time) {
            if (time == null) {
                return null;
            }
            int slot = Math.floorMod(time.hashCode(), TIMES);
            String known = times[slot];
            if (time.equals(known)) {
                return known;
            }
            times[slot] = time;
            return time;
        }

        private static @Nullable String text(@Nullable String text) {
            return text == null ? null : text.intern();
        }
    }

    /** Returns the answer for an object that is watched. */
    static <T extends HasMetadata> Present<T> watched(
            ObjectKind<T> kind, ObjectKey key, Fetched<T> fetched, StoreOptions options) {
        ObjectMeta metadata = fetched.object().getMetadata();
        if (key.name().equals(metadata.getName())) {
            metadata.setName(key.name()); // one text instead of two
        }
        // the age is not used: the object is up to date while it is watched
        return present(kind, fetched, options.budget().shared, 0);
    }

    /** Returns the answer for a fetched object. Its payload is replaced by an equal one if one is held already. */
    static <T extends HasMetadata> Present<T> present(
            ObjectKind<T> kind, Fetched<T> fetched, SharedPayloads payloads, long receivedAt) {
        T object = fetched.object();
        payloads.share(object);
        return new Present<>(
                receivedAt, object, fetched.resourceVersion(), fetched.encodedBytes(), kind.isImmutable(object));
    }

    /**
     * Returns {@code after}, but with the object of {@code before} if both are the same version of the same object, so
     * that callers keep sharing one instance. Compares versions and objects: an etcd restored from a backup issues a
     * version twice.
     */
    static <T> @Nullable Answer<T> sharing(@Nullable Answer<T> before, @Nullable Answer<T> after) {
        return before instanceof Present<T> shared
                        && after instanceof Present<T> received
                        && !shared.resourceVersion.isEmpty()
                        && shared.resourceVersion.equals(received.resourceVersion)
                        && shared.object.equals(received.object)
                ? shared.receivedAgain(received.receivedAt)
                : after;
    }

    /**
     * Returns whether both are the same apart from their age: both none, both absent, or both the same shared object.
     */
    static boolean isSame(@Nullable Answer<?> before, @Nullable Answer<?> after) {
        if (before instanceof Present<?> shared && after instanceof Present<?> received) {
            return shared.object == received.object;
        }
        return cacheStateOf(before) == cacheStateOf(after);
    }

    /**
     * Returns whether {@code known} is newer than an event with that version: a quorum read may be ahead of the watch,
     * and a watch without a version begins with a state that may be older than the answer of a GET.
     */
    static boolean isAheadOf(@Nullable Answer<?> known, String version) {
        return known instanceof Present<?> present && ResourceVersions.isOlder(version, present.resourceVersion);
    }

    /** Returns whether it is an object that is marked immutable. */
    static boolean isImmutable(@Nullable Answer<?> answer) {
        return answer instanceof Present<?> present && present.immutable;
    }

    /** Returns whether both are objects, and {@code read} is the newer version. */
    static boolean isNewer(@Nullable Answer<?> read, @Nullable Answer<?> known) {
        return read instanceof Present<?> after
                && known instanceof Present<?> before
                && ResourceVersions.isOlder(before.resourceVersion, after.resourceVersion);
    }

    /** Returns the cache state for an answer, which may be null, ignoring its age. */
    static CacheState cacheStateOf(@Nullable Answer<?> answer) {
        if (answer == null) {
            return CacheState.UNREAD;
        }
        return answer instanceof Absent ? CacheState.ABSENT : CacheState.FRESH;
    }
}
