package dev.podcache.kubelet.podconfig;

import org.jspecify.annotations.Nullable;

/** For what something is read: a container or a volume, by name. One of the two is null. */
record Subject(@Nullable String container, @Nullable String volume) {

    static Subject container(@Nullable String name) {
        return new Subject(name == null ? "" : name, null);
    }

    static Subject volume(@Nullable String name) {
        return new Subject(null, name == null ? "" : name);
    }

    /** What to throw because of it. */
    PodConfigException failure(String message) {
        return failure(message, null);
    }

    PodConfigException failure(String message, @Nullable Throwable cause) {
        return new PodConfigException(container, volume, message, cause);
    }
}
