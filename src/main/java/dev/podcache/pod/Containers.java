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

/** Where the environments of a pod's containers come from: init, regular and ephemeral containers alike. */
final class Containers {

    private Containers() {}

    /** Gives every source of a whole environment and of a single variable to its consumer; none is null. */
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

    /** The elements that are there, of a list that may be missing. */
    static <T> Iterable<T> present(@Nullable List<T> list) {
        if (list == null) {
            return List.of();
        }
        for (@Nullable T element : list) {
            if (element == null) {
                return Iterables.filter(list, Objects::nonNull);
            }
        }
        // as it is: registrations come often, and a filter and its iterator for each list are a sixth of their garbage
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
