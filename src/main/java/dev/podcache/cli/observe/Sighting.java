package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.observe.Outcome.Absent;
import dev.podcache.cli.observe.Outcome.Failed;
import dev.podcache.cli.observe.Outcome.Present;
import dev.podcache.cli.output.Event;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import org.jspecify.annotations.Nullable;

/**
 * A reader saw something else of an object than was seen before.
 *
 * @param before null the first time
 */
record Sighting(ObjectKind<?> kind, ObjectKey key, @Nullable Outcome before, Outcome after) {

    /** Whether it is worth a line: that an object is there is not, the first time. */
    boolean isNews() {
        return before != null || !(after instanceof Present);
    }

    /** One word for it. */
    String word() {
        if (after instanceof Absent) {
            return "missing";
        }
        if (after instanceof Failed) {
            return "failing";
        }
        return before instanceof Present ? "changed" : "back";
    }

    /** Tells it, with {@code remark} at the end of the line and {@code more} among the facts. */
    Event event(String remark, ImmutableMap<String, Object> more) {
        ImmutableMap<String, Object> facts = ImmutableMap.<String, Object>builder()
                .put("kind", kind.name())
                .put("object", key.toString())
                .put("from", version(before))
                .put("to", version(after))
                .putAll(more)
                .build();
        return new Event(word(), kind + " " + key + ": " + text() + remark, facts);
    }

    private String text() {
        if (after instanceof Present) {
            return before instanceof Present
                    ? "resourceVersion " + version(before) + " -> " + version(after)
                    : "resourceVersion " + version(after);
        }
        return after instanceof Failed failed ? "cannot be read, " + failed.reason() : "the API server has none";
    }

    private static String version(@Nullable Outcome outcome) {
        if (outcome instanceof Present present) {
            return present.resourceVersion();
        }
        return outcome instanceof Failed failed ? failed.reason() : "none";
    }
}
