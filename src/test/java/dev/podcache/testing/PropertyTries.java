package dev.podcache.testing;

import java.util.Optional;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/**
 * Makes the effort {@code nightly} reach each jqwik property: it has {@link #FACTOR} times the tries of {@code verify}.
 * Those are 1,000, or fewer where {@code @Property(tries = ...)} says that one try takes long. An example has one try
 * under both.
 */
public class PropertyTries implements AroundPropertyHook {

    static final int FACTOR = 50;
    static final int DEFAULT = 1_000;

    private final boolean nightly;

    /** Created by jqwik through {@code ServiceLoader}. */
    public PropertyTries() {
        this(Effort.NIGHTLY);
    }

    PropertyTries(boolean nightly) {
        this.nightly = nightly;
    }

    @Override
    public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
        if (nightly) {
            context.attributes().setTries(nightly(context.attributes().tries()));
        }
        return property.execute();
    }

    private static int nightly(Optional<Integer> tries) {
        int ofVerify = tries.orElse(DEFAULT);
        return ofVerify == 1 ? 1 : (int) Math.min(Integer.MAX_VALUE, (long) ofVerify * FACTOR);
    }

    @Override
    public PropagationMode propagateTo() {
        return PropagationMode.ALL_DESCENDANTS;
    }
}
