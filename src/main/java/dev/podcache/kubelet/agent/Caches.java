package dev.podcache.kubelet.agent;

import dev.podcache.Podcache;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;

/**
 * The caches of Secrets and ConfigMaps.
 *
 * @param closing ends them
 */
public record Caches(Manager<Secret> secrets, Manager<ConfigMap> configMaps, Runnable closing) {

    /** Those of the front door, closed with it. */
    public static Caches of(Podcache cache) {
        return new Caches(cache.secrets(), cache.configMaps(), cache::close);
    }
}
