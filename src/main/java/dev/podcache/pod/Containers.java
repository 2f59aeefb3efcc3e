package dev.podcache.pod;

import com.google.common.collect.Iterables;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvFromSource;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.EphemeralContainer;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Finds the sources of environment variables in a pod's init, regular and ephemeral containers. */
final class Containers {

    private Containers() {}

    /**
     * Passes every {@code envFrom} source to {@code whole} and every {@code valueFrom} source to {@code single}; none
     * is null.
     */
    static void forEachSource(PodSpec spec, Consumer<EnvFromSource> whole, Consumer<EnvVarSource> single) {
        for (Container container : present(spec.getInitContainers())) {
            sources(container.getEnvFrom(), container.getEnv(), whole, single);
        }
        for (Container container : present(spec.getContainers())) {
            sources(container.getEnvFrom(), container.getEnv(), whole, single);
        }
        for (EphemeralContainer container : present(spec.getEphemeralContainers())) {
            sources(container.getEnvFrom(), container.getEnv(), whole, single);
        }
    }

    /** Returns the elements of a list that are not null; none if the list is null. */
    static <T> Iterable<T> present(@Nullable List<T> list) {
        if (list == null) {
            return List.of();
        }
        for (@Nullable T element : list) {
            if (element == null) {
                return Iterables.filter(list, Objects::nonNull);
            }
        }
        // unfiltered, because registrations are frequent: filters and their iterators would be a sixth of their garbage
        return list;
    }

    private static void sources(
            @Nullable List<EnvFromSource> envFrom,
            @Nullable List<EnvVar> env,
            Consumer<EnvFromSource> whole,
            Consumer<EnvVarSource> single) {
        present(envFrom).forEach(whole);
        for (EnvVar variable : present(env)) {
            @Nullable EnvVarSource source = variable.getValueFrom();
            if (source != null) {
                single.accept(source);
            }
        }
    }
}
