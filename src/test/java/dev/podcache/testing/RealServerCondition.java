package dev.podcache.testing;

import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Decides for {@link RealServerTest}. The binaries are looked for once per JVM. */
final class RealServerCondition implements ExecutionCondition {

    private static final class Found {
        static final Optional<ServerBinaries> BINARIES = ServerBinaries.find();

        static {
            if (BINARIES.isEmpty() && !ServerBinaries.required()) {
                System.out.println("*** real-server tests skipped: " + remedy() + " ***");
            }
        }
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (Found.BINARIES.isPresent()) {
            return ConditionEvaluationResult.enabled("kube-apiserver is there");
        }
        if (ServerBinaries.required()) {
            throw new IllegalStateException("podcache.realServer is required, but there is no kube-apiserver under "
                    + ServerBinaries.folder() + ", and kube-api-test could not download one");
        }
        return ConditionEvaluationResult.disabled(remedy());
    }

    private static String remedy() {
        return "no kube-apiserver under " + ServerBinaries.folder()
                + "; run .ci/run, or let kube-api-test download one with -Dpodcache.realServer=required";
    }
}
