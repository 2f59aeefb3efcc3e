package dev.podcache.kubelet.podconfig;

import org.jspecify.annotations.Nullable;

/** The name of the container or volume that configuration is assembled for. The other one is null. */
record ConfigTarget(@Nullable String container, @Nullable String volume) {

    static ConfigTarget container(@Nullable String name) {
        return new ConfigTarget(Nullables.orEmpty(name), null);
    }

    static ConfigTarget volume(@Nullable String name) {
        return new ConfigTarget(null, Nullables.orEmpty(name));
    }

    /** Returns an exception that names this container or volume. */
    PodConfigException failure(String message) {
        return failure(message, null);
    }

    PodConfigException failure(String message, @Nullable Throwable cause) {
        return new PodConfigException(container, volume, message, cause);
    }
}
