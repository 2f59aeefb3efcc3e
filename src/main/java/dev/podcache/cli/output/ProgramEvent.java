package dev.podcache.cli.output;

import com.google.common.collect.ImmutableMap;
import dev.podcache.manager.ChangeDetectionStrategy;

/**
 * Something that happened in the program: one line of its output. Never contains a payload.
 *
 * @param name the type of the event, one word
 * @param text the rest of the line in text output
 * @param facts the fields in JSON output: strings, numbers, booleans, and maps and lists of them
 */
public record ProgramEvent(String name, String text, ImmutableMap<String, Object> facts) {

    /** An event whose only fact is its text. */
    public static ProgramEvent of(String name, String fact, String text) {
        return new ProgramEvent(name, text, ImmutableMap.of(fact, text));
    }

    /** The event with which a command starts its work for a node. */
    public static ProgramEvent started(String node, ChangeDetectionStrategy strategy, String url) {
        return new ProgramEvent(
                "started",
                "node " + node + ", strategy " + strategy + ", server " + url,
                ImmutableMap.of("node", node, "strategy", strategy.name(), "server", url));
    }
}
