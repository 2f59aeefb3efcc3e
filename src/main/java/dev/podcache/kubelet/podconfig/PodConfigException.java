package dev.podcache.kubelet.podconfig;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the configuration of a container or a volume is unavailable. The message is the kubelet's, as in the status
 * of a container that waits with reason {@code CreateContainerConfigError} or in an event {@code FailedMount}, such as
 * {@code secret "db" not found}. It never contains the content of an object. Immutable.
 *
 * <p>The {@linkplain #getCause() cause} is a {@link dev.podcache.object.ObjectUnavailableException} if an object was
 * unavailable. It is null if the object is available but lacks what the pod refers to.
 *
 * <p>A later attempt may succeed: every cause can be resolved by changing objects in the cluster other than the pod.
 */
public final class PodConfigException extends RuntimeException {

    private final @Nullable String container;
    private final @Nullable String volume;

    PodConfigException(@Nullable String container, @Nullable String volume, String message, @Nullable Throwable cause) {
        // without stack trace: each sync of a waiting pod throws this, and the trace would explain nothing
        super(message, cause, true, false);
        this.container = container;
        this.volume = volume;
    }

    /**
     * Combines {@code failures} into one exception. Returns a single failure unchanged. Otherwise, the message lists
     * the distinct messages in brackets, without brackets if all are equal; the first failure is the cause, and the
     * others are suppressed.
     */
    static PodConfigException allOf(List<PodConfigException> failures) {
        PodConfigException first = failures.get(0);
        if (failures.size() == 1) {
            return first;
        }
        List<String> messages = failures.stream()
                .map(failure -> String.valueOf(failure.getMessage()))
                .distinct()
                .toList();
        String message = messages.size() == 1 ? messages.get(0) : "[" + String.join(", ", messages) + "]";
        PodConfigException all = new PodConfigException(first.container, first.volume, message, first);
        failures.stream().skip(1).forEach(all::addSuppressed);
        return all;
    }

    /** Returns the name of the container that cannot be created; empty if a volume failed. */
    public Optional<String> container() {
        return Optional.ofNullable(container);
    }

    /** Returns the name of the volume that cannot be filled; empty if a container failed. */
    public Optional<String> volume() {
        return Optional.ofNullable(volume);
    }
}
