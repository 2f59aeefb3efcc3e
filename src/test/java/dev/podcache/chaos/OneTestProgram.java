package dev.podcache.chaos;

import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * One test as a program, for runs on classes that are not those of the build. Prints what became of the test as a line
 * that begins with {@value Finding#PREFIX}. Prints no such line if there is no such test, or if it did not run.
 */
final class OneTestProgram {

    private OneTestProgram() {}

    /** What became of a test; of several invocations, the first of these that any of them has. */
    enum Outcome {
        FAILED,
        PASSED,
        SKIPPED;

        /** The name for programs, as a shape has one. */
        String id() {
            return "test " + name();
        }
    }

    /** Whether the class has such a method, and an engine takes that for a test. */
    static boolean exists(FoundBy.OneTest test) {
        try {
            return plan(launcher(), test).containsTests();
        } catch (ClassNotFoundException | IllegalArgumentException e) {
            return false;
        }
    }

    /** Runs a test; empty if it did not run. Prints why it failed or is skipped. */
    static Optional<Outcome> run(FoundBy.OneTest test, PrintStream output) throws ClassNotFoundException {
        Launcher launcher = launcher();
        Set<Outcome> outcomes = EnumSet.noneOf(Outcome.class);
        launcher.execute(plan(launcher, test), new TestExecutionListener() {
            @Override
            public void executionSkipped(TestIdentifier skipped, String reason) {
                output.println(skipped.getDisplayName() + " is skipped: " + reason);
                outcomes.add(Outcome.SKIPPED);
            }

            @Override
            public void executionFinished(TestIdentifier ended, TestExecutionResult result) {
                result.getThrowable().ifPresent(thrown -> thrown.printStackTrace(output));
                // what fails around a test, such as the start of a server, says nothing of the test
                if (ended.isTest()) {
                    outcomes.add(
                            switch (result.getStatus()) {
                                case SUCCESSFUL -> Outcome.PASSED;
                                case ABORTED -> Outcome.SKIPPED;
                                case FAILED -> Outcome.FAILED;
                            });
                }
            }
        });
        return outcomes.stream().findFirst();
    }

    private static Launcher launcher() {
        return LauncherFactory.create(LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .build());
    }

    private static TestPlan plan(Launcher launcher, FoundBy.OneTest test) throws ClassNotFoundException {
        Class<?> type = Class.forName(test.type());
        List<Method> methods = ReflectionSupport.findMethods(
                type, method -> method.getName().equals(test.method()), HierarchyTraversalMode.BOTTOM_UP);
        if (methods.size() != 1) {
            throw new IllegalArgumentException(methods.size() + " methods are called " + test);
        }
        return launcher.discover(LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectMethod(type, methods.get(0)))
                .build());
    }

    /**
     * Runs.
     *
     * @param arguments the names of the class and of the method
     */
    public static void main(String[] arguments) throws ClassNotFoundException {
        FoundBy.OneTest test = new FoundBy.OneTest(arguments[0], arguments[1]);
        run(test, System.out).ifPresent(outcome -> System.out.println(Finding.PREFIX + outcome.id() + ": " + test));
        System.exit(0);
    }
}
