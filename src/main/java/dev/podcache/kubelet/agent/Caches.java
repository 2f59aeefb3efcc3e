package dev.podcache.kubelet.agent;

import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;

/** The managers through which an agent reads Secrets and ConfigMaps. */
public record Caches(Manager<Secret> secrets, Manager<ConfigMap> configMaps) {}
