package dev.podcache.cli.observe;

import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import io.fabric8.kubernetes.api.model.HasMetadata;

/** What a reader saw of an object, without its content. */
sealed interface Outcome {

    /** The object is there. */
    record Present(String resourceVersion) implements Outcome {}

    /** There is no such object. */
    record Absent() implements Outcome {}

    /**
     * The object could not be had.
     *
     * @param reason one word, for programs
     */
    record Failed(String reason) implements Outcome {}

    /** What a get that brought {@code object} saw. */
    static Outcome of(HasMetadata object) {
        String version = object.getMetadata().getResourceVersion();
        return new Present(version == null ? "" : version);
    }

    /** What a get that threw saw. */
    static Outcome of(ObjectUnavailableException thrown) {
        if (thrown instanceof NotFound) {
            return new Absent();
        }
        return new Failed(
                thrown instanceof FetchFailed failed
                        ? failed.reason().name()
                        : thrown.getClass().getSimpleName());
    }
}
