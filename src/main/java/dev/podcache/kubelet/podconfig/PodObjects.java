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
 * The objects that one container or one volume asks for, each read once, so that it sees all keys of one object from
 * the same version. For one thread.
 */
final class PodObjects {

    private final Sources sources;
    private final String namespace;
    private final Subject subject;
    private final Map<String, ObjectData> known = new HashMap<>();

    /** From where objects are read. */
    record Sources(Manager<Secret> secrets, Manager<ConfigMap> configMaps) {}

    PodObjects(Sources sources, String namespace, Subject subject) {
        this.sources = sources;
        this.namespace = namespace;
        this.subject = subject;
    }

    /**
     * The content of a Secret, or null if it is optional and does not exist.
     *
     * @throws PodConfigException if it cannot be had; optional forgives only that the server knows of no such object
     */
    @Nullable
    ObjectData secret(@Nullable String name, @Nullable Boolean optional) {
        return read(ObjectKind.SECRET, AbsentObject.orEmpty(name), Boolean.TRUE.equals(optional), found -> {
            Secret secret = sources.secrets.getObject(namespace, found);
            return ObjectData.of(secret, ObjectKey.of(namespace, found), subject);
        });
    }

    /** The same for a ConfigMap. */
    @Nullable
    ObjectData configMap(@Nullable String name, @Nullable Boolean optional) {
        return read(ObjectKind.CONFIG_MAP, AbsentObject.orEmpty(name), Boolean.TRUE.equals(optional), found -> {
            ConfigMap configMap = sources.configMaps.getObject(namespace, found);
            return ObjectData.of(configMap, ObjectKey.of(namespace, found), subject);
        });
    }

    private @Nullable ObjectData read(
            ObjectKind<?> kind, String name, boolean optional, Function<String, ObjectData> reader) {
        ObjectData data = known.get(kind + "/" + name);
        if (data != null) {
            return data;
        }
        String what = kind.name().toLowerCase(Locale.ROOT);
        try {
            data = reader.apply(name);
        } catch (NotFound e) {
            if (optional) {
                return null;
            }
            throw subject.failure(what + " \"" + name + "\" not found", e);
        } catch (ObjectUnavailableException e) {
            throw subject.failure(String.valueOf(e.getMessage()), e);
        } catch (IllegalArgumentException e) {
            throw subject.failure("no " + what + " can have that name: " + e.getMessage(), e);
        }
        known.put(kind + "/" + name, data);
        return data;
    }
}
