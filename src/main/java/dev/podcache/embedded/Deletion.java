package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Whether an object may be deleted, and how long a pod that runs on a node lives on, marked. Pure. */
final class Deletion {

    private static final long DEFAULT_GRACE_SECONDS = 30;

    private Deletion() {}

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

    /** How long the pod may live on; 0 means that it goes at once. */
    static long graceSeconds(ObjectNode current, DeleteOptions options) {
        String phase = current.path("status").path("phase").asText();
        boolean running = !current.path("spec").path("nodeName").asText().isEmpty()
                && !phase.equals("Succeeded")
                && !phase.equals("Failed");
        if (!running) {
            return 0;
        }
        Long asked = options.gracePeriodSeconds();
        return asked != null
                ? asked
                : current.path("spec").path("terminationGracePeriodSeconds").asLong(DEFAULT_GRACE_SECONDS);
    }

    /** The pod as a graceful deletion leaves it; a second one may only shorten the grace period. */
    static ObjectNode marked(ObjectNode current, long graceSeconds, Instant now) {
        ObjectNode object = current.deepCopy();
        ObjectNode metadata = Json.object(object, "metadata");
        boolean marked = metadata.has("deletionTimestamp");
        if (!marked
                || graceSeconds < metadata.path("deletionGracePeriodSeconds").asLong()) {
            Instant asked = marked
                    ? Instant.parse(metadata.path("deletionTimestamp").asText())
                            .minusSeconds(
                                    metadata.path("deletionGracePeriodSeconds").asLong())
                    : now;
            metadata.put("deletionTimestamp", WriteRules.timestamp(asked.plusSeconds(graceSeconds)));
            metadata.put("deletionGracePeriodSeconds", graceSeconds);
        }
        return object;
    }
}
