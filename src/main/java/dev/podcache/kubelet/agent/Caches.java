package dev.podcache.kubelet.agent;

import dev.podcache.Podcache;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;

/**
 * The caches of Secrets and ConfigMaps.
 *
 * @param closing closes the caches
 */
public record Caches(Manager<Secret> secrets, Manager<ConfigMap> configMaps, Runnable closing) {

    /** Returns the managers of {@code cache}. */
    public static Caches of(Podcache cache) {
        return new Caches(cache.secrets(), cache.configMaps(), cache::close);
    }
}
