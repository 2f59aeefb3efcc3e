package dev.podcache.testing;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Decides for {@link RealServerTest} whether there is a server with the features that the test {@link Needs}.
 *
 * <p>JUnit creates the instance of a test before it evaluates the conditions of the method. An instance that opens
 * connections would leave them open, so this class decides before the instance is created.
 */
final class RealServerCondition implements ExecutionCondition, TestInstancePreConstructCallback {

    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public void preConstructTestInstance(TestInstanceFactoryContext factoryContext, ExtensionContext context) {
        ConditionEvaluationResult decision = evaluateExecutionCondition(context);
        if (decision.isDisabled()) {
            Assumptions.abort(decision.getReason().orElse(""));
        }
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<ServerBinaries> found = ServerBinaries.found();
        if (found.isPresent()) {
            Optional<Needs> needs = AnnotationSupport.findAnnotation(context.getElement(), Needs.class);
            return decide(found.get().version(), needs.map(Needs::value).orElseGet(() -> new ServerFeature[0]));
        }
        if (ServerBinaries.required()) {
            throw new IllegalStateException("podcache.realServer is required, but there is no kube-apiserver under "
                    + ServerBinaries.folder() + ", and kube-api-test could not download one");
        }
        return ConditionEvaluationResult.disabled("no kube-apiserver under " + ServerBinaries.folder());
    }

    static ConditionEvaluationResult decide(ServerVersion server, ServerFeature... needs) {
        String missing = Arrays.stream(needs)
                .filter(feature -> !feature.isIn(server))
                .map(ServerFeature::toString)
                .collect(Collectors.joining(", "));
        return missing.isEmpty()
                ? ConditionEvaluationResult.enabled("kube-apiserver found")
                : ConditionEvaluationResult.disabled("needs " + missing);
    }
}
