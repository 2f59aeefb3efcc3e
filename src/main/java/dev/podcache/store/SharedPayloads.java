package dev.podcache.store;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stores equal payloads once: equal {@code data} and {@code binaryData} of Secrets and ConfigMaps become one immutable
 * map. Keeps no payload itself: a map is collected with the last object that has it. Thread-safe.
 */
final class SharedPayloads {

    private final Interner<Map<String, String>> payloads = Interners.newWeakInterner();

    /**
     * Replaces the payload of an object that nobody else knows yet. Reads the payload once to hash it, and once more to
     * compare it if an equal one is known.
     */
    void share(HasMetadata object) {
        if (object instanceof Secret secret) {
            secret.setData(shared(secret.getData()));
        } else if (object instanceof ConfigMap configMap) {
            configMap.setData(shared(configMap.getData()));
            configMap.setBinaryData(shared(configMap.getBinaryData()));
        }
    }

    private @Nullable Map<String, String> shared(@Nullable Map<String, String> payload) {
        // an immutable map has no null values; the API server sends none
        if (payload == null || payload.containsValue(null)) {
            return payload;
        }
        return payload.isEmpty() ? ImmutableMap.of() : payloads.intern(ImmutableMap.copyOf(payload));
    }
}
