package dev.podcache.cli.observe;

import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * The result of a read, without the content of the object.
 *
 * @param event the event that reports a change to this result: changed, missing or failing
 * @param value the resourceVersion of an object that was found, "none" if there is none, or why the read failed
 */
record Observation(String event, String value) {

    static final Observation ILLEGAL_NAME = new Observation("failing", "ILLEGAL_NAME");

    static Observation of(HasMetadata object) {
        String version = object.getMetadata().getResourceVersion();
        return new Observation("changed", version == null ? "" : version);
    }

    static Observation of(ObjectUnavailableException thrown) {
        if (thrown instanceof NotFound) {
            return new Observation("missing", "none");
        }
        return new Observation(
                "failing",
                thrown instanceof FetchFailed failed
                        ? failed.reason().name()
                        : thrown.getClass().getSimpleName());
    }

    boolean isFound() {
        return event.equals("changed");
    }
}
