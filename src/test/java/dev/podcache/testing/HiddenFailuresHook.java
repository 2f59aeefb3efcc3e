package dev.podcache.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.AroundTryHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;
import net.jqwik.api.lifecycle.TryExecutionResult;
import net.jqwik.api.lifecycle.TryExecutor;
import net.jqwik.api.lifecycle.TryLifecycleContext;
import org.jspecify.annotations.Nullable;

/**
 * Fails a jqwik property with {@link HiddenFailures}, unless {@link ExpectedWarnings} names them. They falsify the try
 * during which they happen, or else the property. Each expected warning must come in one try at least. jqwik finds this
 * hook through {@code META-INF/services}.
 */
public final class HiddenFailuresHook implements AroundPropertyHook, AroundTryHook {

    /** Further outside than the methods of a test class that jqwik calls around properties and tries. */
    private static final int OUTSIDE = -50;

    private @Nullable HiddenFailures hidden; // of the current property; properties run one at a time

    /** Created by jqwik through {@code ServiceLoader}. */
    public HiddenFailuresHook() {}

    @Override
    public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
        HiddenFailures begun = new HiddenFailures();
        begun.begin();
        begun.expect(HiddenFailures.expectedBy(context.targetMethod()));
        hidden = begun;
        PropertyExecutionResult result;
        try {
            result = property.execute();
        } finally {
            hidden = null;
            begun.end();
        }
        List<String> problems = new ArrayList<>(begun.drain());
        problems.addAll(begun.missing());
        return result.status() == PropertyExecutionResult.Status.SUCCESSFUL
                ? HiddenFailures.failure(problems).map(result::mapToFailed).orElse(result)
                : result;
    }

    @Override
    public TryExecutionResult aroundTry(TryLifecycleContext context, TryExecutor attempt, List<Object> arguments) {
        TryExecutionResult result = attempt.execute(arguments);
        HiddenFailures begun = hidden;
        if (begun == null) {
            return result;
        }
        Optional<AssertionError> failure = HiddenFailures.failure(begun.drain());
        return result.isFalsified()
                ? result
                : failure.map(TryExecutionResult::falsified).orElse(result);
    }

    @Override
    public PropagationMode propagateTo() {
        return PropagationMode.ALL_DESCENDANTS;
    }

    @Override
    public int aroundPropertyProximity() {
        return OUTSIDE;
    }

    @Override
    public int aroundTryProximity() {
        return OUTSIDE;
    }
}
