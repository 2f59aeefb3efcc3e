package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import java.util.Map;

/**
 * The environment variables of a container. Immutable. Unlike a map, its {@link #toString} shows only the names,
 * because values may come from Secrets.
 */
public final class Environment {

    private final ImmutableMap<String, String> variables;

    Environment(Map<String, String> variables) {
        this.variables = ImmutableMap.copyOf(variables);
    }

    /**
     * Returns the variables by name, in the order of their definition; unmodifiable. {@link
     * dev.podcache.kubelet.runtime.ByteText} says how a value stands for bytes that are not UTF-8. The map's {@code
     * toString} shows the values: do not log it.
     */
    public Map<String, String> variables() {
        return variables;
    }

    /** Returns the names of the variables, without values. */
    @Override
    public String toString() {
        return "Environment" + variables.keySet();
    }
}
