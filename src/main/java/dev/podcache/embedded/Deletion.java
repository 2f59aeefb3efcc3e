package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Durations;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Computes the effect of a delete request: whether its preconditions hold, and the graceful deletion of pods. Pure
 * functions.
 */
final class Deletion {

    private static final long DEFAULT_GRACE_SECONDS = 30;

    private Deletion() {}

    /**
     * Checks the preconditions of a deletion.
     *
     * @throws StatusException 409 if the UID or resourceVersion of the object differs from the precondition
     */
    static void requirePreconditions(Resource resource, ObjectKey key, ObjectNode current, DeleteOptions options) {
        requireEqual(
                resource, key, "UID", options.uid(), current.path("metadata").path("uid"));
        requireEqual(
                resource,
                key,
                "ResourceVersion",
                options.resourceVersion(),
                current.path("metadata").path("resourceVersion"));
    }

    private static void requireEqual(
            Resource resource, ObjectKey key, String what, @Nullable String wanted, JsonNode found) {
        if (wanted != null && !wanted.equals(found.asText())) {
            throw StatusException.preconditionFailed(
                    resource,
                    key.name(),
                    "the " + what + " in the precondition (" + wanted + ") does not match the " + what + " in record ("
                            + found.asText() + "). The object might have been deleted and then recreated");
        }
    }

    static boolean hasFinalizers(ObjectNode object) {
        return !object.path("metadata").path("finalizers").isEmpty();
    }

    /** Returns whether an update ends a deletion: it removes the last finalizer of an object without a grace period. */
    static boolean completes(ObjectNode current, ObjectNode updated) {
        JsonNode grace = current.path("metadata").path("deletionGracePeriodSeconds");
        return grace.isNumber() && grace.asLong() == 0 && !hasFinalizers(updated);
    }

    /** Returns the object with the deletion timestamp of an object that stays until its last finalizer is removed. */
    static ObjectNode markedForFinalizers(ObjectNode current, Instant now) {
        ObjectNode object = current.deepCopy();
        ObjectNode metadata = Json.object(object, "metadata");
        if (!metadata.has("deletionTimestamp")) {
            metadata.put("deletionTimestamp", WriteRules.timestamp(now));
            metadata.put("deletionGracePeriodSeconds", 0);
            raiseGeneration(metadata);
        }
        return object;
    }

    /** The first mark changes what is wanted of an object. Some kinds have no generation. */
    private static void raiseGeneration(ObjectNode metadata) {
        long generation = metadata.path("generation").asLong();
        if (generation > 0) {
            metadata.put("generation", generation + 1);
        }
    }

    /**
     * Returns the grace period of the pod in seconds; 0 if it is removed at once, as a pod that has no node or has
     * finished is.
     */
    static long graceSeconds(ObjectNode current, DeleteOptions options) {
        String phase = current.path("status").path("phase").asText();
        boolean running = !current.path("spec").path("nodeName").asText().isEmpty()
                && !phase.equals("Succeeded")
                && !phase.equals("Failed");
        if (!running) {
            return 0;
        }
        Long requested = options.gracePeriodSeconds();
        return requested != null
                ? requested
                : current.path("spec").path("terminationGracePeriodSeconds").asLong(DEFAULT_GRACE_SECONDS);
    }

    /**
     * Returns the pod with the deletion timestamp and grace period of a graceful deletion. A repeated deletion can only
     * shorten the grace period.
     */
    static ObjectNode markedForDeletion(ObjectNode current, long graceSeconds, Instant now) {
        ObjectNode object = current.deepCopy();
        ObjectNode metadata = Json.object(object, "metadata");
        boolean marked = metadata.has("deletionTimestamp");
        if (!marked
                || graceSeconds < metadata.path("deletionGracePeriodSeconds").asLong()) {
            Instant requested = marked
                    ? Instant.parse(metadata.path("deletionTimestamp").asText())
                            .minus(Durations.ofSeconds(
                                    metadata.path("deletionGracePeriodSeconds").asLong()))
                    : now;
            metadata.put("deletionTimestamp", WriteRules.timestamp(requested.plus(Durations.ofSeconds(graceSeconds))));
            metadata.put("deletionGracePeriodSeconds", graceSeconds);
            if (!marked) {
                raiseGeneration(metadata);
            }
        }
        return object;
    }
}
