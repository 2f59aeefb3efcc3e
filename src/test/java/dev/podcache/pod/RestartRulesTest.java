package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerRestartRule;
import io.fabric8.kubernetes.api.model.ContainerRestartRuleBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The cases of upstream's TestContainerHasRestartablePolicy, which asks ContainerShouldRestart, of
 * TestFindMatchingContainerRestartRule and of TestIsContainerRestartable, and some more.
 */
class RestartRulesTest {

    private static final ContainerRestartRule IN = rule("Restart", "In", 42, 50, 60);
    private static final ContainerRestartRule NOT_IN = rule("Restart", "NotIn", 0, 1, 2);

    private static ContainerRestartRule rule(String action, String operator, Integer... codes) {
        return new ContainerRestartRuleBuilder()
                .withAction(action)
                .withNewExitCodes()
                .withOperator(operator)
                .withValues(codes)
                .endExitCodes()
                .build();
    }

    private static Container container(@Nullable String policy, ContainerRestartRule... rules) {
        return new ContainerBuilder()
                .withName("main")
                .withRestartPolicy(policy)
                .withRestartPolicyRules(rules)
                .build();
    }

    static Stream<Arguments> shouldRestart() {
        return Stream.of(
                Arguments.of("rule In matches", container("Never", IN), null, 42, true),
                Arguments.of("rule NotIn matches", container("Never", NOT_IN), null, 99, true),
                Arguments.of(
                        "rule In does not match: policy",
                        container("Never", rule("Restart", "In", 10, 20)),
                        null,
                        30,
                        false),
                Arguments.of(
                        "rule NotIn does not match: policy",
                        container("Never", rule("Restart", "NotIn", 10, 20)),
                        null,
                        10,
                        false),
                Arguments.of("Always", container("Always"), "Never", 0, true),
                Arguments.of("OnFailure, 0", container("OnFailure"), "Never", 0, false),
                Arguments.of("OnFailure, 1", container("OnFailure"), "Never", 1, true),
                Arguments.of("Never", container("Never"), "Always", 1, false),
                Arguments.of("pod: Always", container(null), "Always", 0, true),
                Arguments.of("pod: OnFailure, 1", container(null), "OnFailure", 1, true),
                Arguments.of("pod: Never", container(null), "Never", 1, false),
                Arguments.of("no policy", container(null), null, 0, true),
                // further cases
                Arguments.of("pod: OnFailure, 0", container(null), "OnFailure", 0, false),
                Arguments.of(
                        "the first rule that matches decides",
                        container("Never", rule("RestartAllContainers", "In", 42), IN),
                        null,
                        42,
                        false),
                Arguments.of(
                        "the second rule matches", container("Never", rule("Restart", "In", 7), IN), null, 60, true),
                Arguments.of("no rule without a policy", container(null, IN), "Never", 42, false),
                Arguments.of(
                        "unknown action: policy", container("OnFailure", rule("Explode", "In", 42)), "Never", 42, true),
                Arguments.of("unknown operator", container("Never", rule("Restart", "Near", 42)), "Always", 42, false),
                Arguments.of(
                        "rule without exit codes",
                        container(
                                "Never",
                                new ContainerRestartRuleBuilder()
                                        .withAction("Restart")
                                        .build()),
                        "Always",
                        1,
                        false),
                Arguments.of("unknown policy: pod", container("Sometimes"), "Never", 1, false));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void shouldRestart(String situation, Container container, @Nullable String policy, int exitCode, boolean expected) {
        PodSpec pod = new PodSpecBuilder().withRestartPolicy(policy).build();

        assertThat(RestartRules.shouldRestart(container, pod, exitCode)).isEqualTo(expected);
    }

    static Stream<Arguments> restartsAfterProbe() {
        return Stream.of(
                Arguments.of(container("Never", IN), "Always", false),
                Arguments.of(container("Always"), "Never", true),
                Arguments.of(container("OnFailure"), "Never", true),
                Arguments.of(container("Never"), "Always", false),
                Arguments.of(container(null), "Always", true),
                Arguments.of(container(null), "OnFailure", true),
                Arguments.of(container(null), "Never", false),
                Arguments.of(container(null), null, true));
    }

    @ParameterizedTest
    @MethodSource
    void restartsAfterProbe(Container container, @Nullable String policy, boolean expected) {
        PodSpec pod = new PodSpecBuilder().withRestartPolicy(policy).build();

        assertThat(RestartRules.restartsAfterProbe(container, pod)).isEqualTo(expected);
    }
}
