package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;

/**
 * The variables of a container. Immutable. A class of its own because a map would print its values, which may come from
 * Secrets: this one prints their names only.
 */
public final class Environment {

    private final ImmutableMap<String, String> variables;

    Environment(ImmutableMap<String, String> variables) {
        this.variables = variables;
    }

    /** Names and values, in the order in which they came to be. Prints values: take care where it goes. */
    public ImmutableMap<String, String> variables() {
        return variables;
    }

    /** The names of the variables. */
    @Override
    public String toString() {
        return "Environment" + variables.keySet();
    }
}
