package dev.podcache.testing;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Decides for {@link BrowserTest} whether there is a browser. */
final class BrowserCondition implements ExecutionCondition {

    private static final String ABSENT = "no Chromium on the path; .ci/browser installs it on Debian";

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (Browser.program().isPresent()) {
            return ConditionEvaluationResult.enabled("Chromium found");
        }
        if (System.getProperty("podcache.browser", "optional").equals("required")) {
            throw new IllegalStateException("podcache.browser is required, but there is " + ABSENT);
        }
        return ConditionEvaluationResult.disabled(ABSENT);
    }
}
