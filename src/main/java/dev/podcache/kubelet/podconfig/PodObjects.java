package dev.podcache.kubelet.podconfig;

import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the Secrets and ConfigMaps that one container or volume refers to. Reads each object once, so that all of its
 * keys come from the same version. Not thread-safe.
 */
final class PodObjects {

    private final PodManagers managers;
    private final String namespace;
    private final ConfigTarget target;
    private final Map<String, ObjectData> alreadyRead = new HashMap<>();

    /** The managers that objects are read from. */
    record PodManagers(Manager<Secret> secrets, Manager<ConfigMap> configMaps) {}

    PodObjects(PodManagers managers, String namespace, ConfigTarget target) {
        this.managers = managers;
        this.namespace = namespace;
        this.target = target;
    }

    /**
     * Returns the content of a Secret, or null if it is optional and does not exist. During an outage, the last answer
     * counts, as for a kubelet.
     *
     * @throws PodConfigException if the Secret is unavailable for any other reason
     */
    @Nullable
    ObjectData secret(@Nullable String name, @Nullable Boolean optional) {
        return read(ObjectKind.SECRET, name, optional, key -> {
            Secret secret = managers.secrets.getObject(namespace, key.name());
            return ObjectData.of(secret, key, target);
        });
    }

    /**
     * Returns the content of a ConfigMap, or null if it is optional and does not exist. During an outage, the last
     * answer counts, as for a kubelet.
     *
     * @throws PodConfigException if the ConfigMap is unavailable for any other reason
     */
    @Nullable
    ObjectData configMap(@Nullable String name, @Nullable Boolean optional) {
        return read(ObjectKind.CONFIG_MAP, name, optional, key -> {
            ConfigMap configMap = managers.configMaps.getObject(namespace, key.name());
            return ObjectData.of(configMap, key, target);
        });
    }

    private @Nullable ObjectData read(
            ObjectKind<?> kind,
            @Nullable String name,
            @Nullable Boolean optional,
            Function<ObjectKey, ObjectData> reader) {
        ObjectKey key = ObjectKey.of(namespace, Nullables.orEmpty(name));
        ObjectData data = alreadyRead.get(kind + "/" + key.name());
        if (data != null) {
            return data;
        }
        String kindName = kind.name().toLowerCase(Locale.ROOT);
        try {
            data = reader.apply(key);
        } catch (NotFound e) {
            // the server is asked again and has not answered yet: a new watch of the object, or a fetch
            boolean unconfirmed = e.getCause() instanceof ObjectUnavailableException;
            if (Boolean.TRUE.equals(optional) && !unconfirmed) {
                return null;
            }
            String notFound = kindName + " \"" + key.name() + "\" not found";
            throw target.failure(unconfirmed ? String.valueOf(e.getMessage()) : notFound, e);
        } catch (ObjectUnavailableException e) {
            throw target.failure(String.valueOf(e.getMessage()), e);
        } catch (IllegalArgumentException e) {
            throw target.failure("invalid " + kindName + " name: " + e.getMessage(), e);
        }
        alreadyRead.put(kind + "/" + key.name(), data);
        return data;
    }
}
