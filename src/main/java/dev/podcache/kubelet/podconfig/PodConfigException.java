package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Why a container or a volume cannot have its configuration now. The message is the kubelet's, as people know it from
 * the status of a container that waits with reason {@code CreateContainerConfigError}, or from an event {@code
 * FailedMount}, such as {@code secret "db" not found}. It never contains any content of an object. Immutable.
 *
 * <p>The {@linkplain #getCause() cause} is a {@link dev.podcache.object.ObjectUnavailableException} if an object could
 * not be had, and null if the object is there, but not what the pod wants of it.
 *
 * <p>Everything that is wrong may be put right by changing objects of the cluster, without touching the pod: trying
 * again later is always sensible.
 */
public final class PodConfigException extends RuntimeException {

    private final @Nullable String container;
    private final @Nullable String volume;

    PodConfigException(@Nullable String container, @Nullable String volume, String message, @Nullable Throwable cause) {
        // a pod that waits for its Secret makes this an everyday answer, and the place in our
        // code tells nobody anything
        super(message, cause, true, false);
        this.container = container;
        this.volume = volume;
    }

    /**
     * All of {@code failures} in one: their texts in brackets, each once, and no brackets around a single one. The
     * first is the cause, unless it is the only one.
     */
    static PodConfigException allOf(List<PodConfigException> failures) {
        PodConfigException first = failures.get(0);
        if (failures.size() == 1) {
            return first;
        }
        ImmutableSet<String> texts =
                failures.stream().map(PodConfigException::text).collect(ImmutableSet.toImmutableSet());
        String message = texts.size() == 1 ? first.text() : "[" + String.join(", ", texts) + "]";
        PodConfigException all = new PodConfigException(first.container, first.volume, message, first);
        failures.stream().skip(1).forEach(all::addSuppressed);
        return all;
    }

    /** The name of the container that cannot be created, if it is about one. */
    public Optional<String> container() {
        return Optional.ofNullable(container);
    }

    /** The name of the volume that cannot be filled, if it is about one. */
    public Optional<String> volume() {
        return Optional.ofNullable(volume);
    }

    private String text() {
        return String.valueOf(getMessage());
    }
}
