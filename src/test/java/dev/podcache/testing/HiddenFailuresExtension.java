package dev.podcache.testing;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a JUnit test with {@link HiddenFailures}, unless {@link ExpectedWarnings} names them. What is logged before the
 * first test of a class, between tests or by a thread that lives on counts for the test that ends next, or else for the
 * class. JUnit finds this extension through {@code META-INF/services} and uses it for every class.
 *
 * <p>A test under {@link NoLeaks}, which is stricter, is judged by that alone.
 */
public final class HiddenFailuresExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(HiddenFailuresExtension.class);

    /** Created by JUnit through {@code ServiceLoader}. */
    public HiddenFailuresExtension() {}

    @Override
    public void beforeAll(ExtensionContext context) {
        HiddenFailures hidden = new HiddenFailures();
        context.getStore(NAMESPACE).put(HiddenFailures.class, hidden);
        hidden.begin();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        hidden(context).expect(HiddenFailures.expectedBy(context.getRequiredTestMethod()));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        HiddenFailures hidden = hidden(context);
        List<String> problems = new ArrayList<>(hidden.drain());
        problems.addAll(hidden.missing());
        hidden.expect(List.of());
        HiddenFailures.throwIfAny(problems);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        HiddenFailures hidden = hidden(context);
        hidden.end();
        HiddenFailures.throwIfAny(hidden.drain());
    }

    private static HiddenFailures hidden(ExtensionContext context) {
        return context.getStore(NAMESPACE).get(HiddenFailures.class, HiddenFailures.class);
    }
}
