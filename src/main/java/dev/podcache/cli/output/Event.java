package dev.podcache.cli.output;

import com.google.common.collect.ImmutableMap;
import dev.podcache.manager.ChangeDetectionStrategy;

/**
 * One thing worth telling. Never contains a payload.
 *
 * @param name what sort of thing, one word
 * @param text the rest of the line for people
 * @param facts the same for programs: strings, numbers, booleans, and maps and lists of them
 */
public record Event(String name, String text, ImmutableMap<String, Object> facts) {

    /** That a command begins its work for a node. */
    public static Event started(String node, ChangeDetectionStrategy strategy, String url) {
        return new Event(
                "started",
                "node " + node + ", strategy " + strategy + ", server " + url,
                ImmutableMap.of("node", node, "strategy", strategy.name(), "server", url));
    }
}
