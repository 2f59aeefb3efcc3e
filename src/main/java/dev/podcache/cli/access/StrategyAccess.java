package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.util.Optional;

/**
 * The verbs that a cache needs on each object, for each strategy. {@code rbac} prints them, {@code doctor} checks them,
 * and the table in {@code docs/rbac.md} shows them.
 */
public enum StrategyAccess {
    GET(ChangeDetectionStrategy.GET, "get"),
    CACHE(ChangeDetectionStrategy.CACHE, "get"),
    /**
     * Every request selects one name, so that {@code resourceNames} restricts both verbs. A server with streamed lists
     * needs {@code watch} only; {@code list} is for one that refuses them or is behind.
     */
    WATCH(ChangeDetectionStrategy.WATCH, "list", "watch");

    private final ChangeDetectionStrategy strategy;
    private final ImmutableList<String> verbs;

    StrategyAccess(ChangeDetectionStrategy strategy, String... verbs) {
        this.strategy = strategy;
        this.verbs = ImmutableList.copyOf(verbs);
    }

    /** Returns the access that {@code strategy} needs. */
    public static StrategyAccess of(ChangeDetectionStrategy strategy) {
        for (StrategyAccess access : values()) {
            if (access.strategy == strategy) {
                return access;
            }
        }
        throw new IllegalArgumentException("no access is known for strategy " + strategy);
    }

    /** Returns the fewest verbs that suffice on every server, in alphabetical order. */
    public ImmutableList<String> verbs() {
        return verbs;
    }

    /** Returns the verb that is used where {@code verb} is refused: {@code get} for {@code list}. */
    public Optional<String> replacementOf(String verb) {
        return this == WATCH && verb.equals("list") ? Optional.of("get") : Optional.empty();
    }
}
