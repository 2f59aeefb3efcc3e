package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.ProgramEvent;
import org.jspecify.annotations.Nullable;

/**
 * A read of an object had another result than the read before it.
 *
 * @param before null if this was the first read
 */
public record ObjectChange(ObjectId id, @Nullable Observation before, Observation after) {

    /** Returns the event that reports the change, with {@code remark} at the end of its text and more facts. */
    public ProgramEvent event(String remark, ImmutableMap<String, Object> facts) {
        boolean returned = after.isFound() && (before == null || !before.isFound());
        String from = before == null ? "none" : before.value();
        String text = switch (after.event()) {
            case "missing" -> "does not exist";
            case "failing" -> "cannot be read, " + after.value();
            default -> "resourceVersion " + (returned ? "" : from + " -> ") + after.value();
        };
        return new ProgramEvent(
                returned ? "back" : after.event(),
                id + ": " + text + remark,
                ImmutableMap.<String, Object>builder()
                        .put("kind", id.kind().name())
                        .put("object", id.key().toString())
                        .put("from", from)
                        .put("to", after.value())
                        .putAll(facts)
                        .buildOrThrow());
    }
}
