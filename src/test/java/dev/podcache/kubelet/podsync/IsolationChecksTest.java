package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodIsolation;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cases of upstream's TestVerifyRunAsNonRoot and TestResolveRecursiveReadOnly, as far as a runtime without images has them. */
@ExtendWith(NoLeaks.class)
class IsolationChecksTest {

    /** What a runtime declares. */
    private record Declared(boolean recursiveReadOnly, OptionalLong user) implements PodIsolation {

        @Override
        public OptionalLong user(Pod pod, Container container) {
            return user;
        }

        @Override
        public boolean stopSignal(String signal) {
            return signal.equals("SIGTERM");
        }
    }

    private static IsolationChecks checks(boolean recursiveReadOnly, @Nullable Long user) {
        return new IsolationChecks(
                new Declared(recursiveReadOnly, user == null ? OptionalLong.empty() : OptionalLong.of(user)));
    }

    private static Pod pod(@Nullable Boolean nonRoot, @Nullable Long user) {
        return new PodBuilder(WorkersFixture.pod("web").build())
                .editMetadata()
                .withUid("u1")
                .endMetadata()
                .editSpec()
                .withNewSecurityContext()
                .withRunAsNonRoot(nonRoot)
                .withRunAsUser(user)
                .endSecurityContext()
                .endSpec()
                .build();
    }

    private static Container container(@Nullable Boolean nonRoot, @Nullable Long user) {
        return new ContainerBuilder()
                .withName("main")
                .withNewSecurityContext()
                .withRunAsNonRoot(nonRoot)
                .withRunAsUser(user)
                .endSecurityContext()
                .build();
    }

    /** The columns: of the pod, of the container, the user of the runtime, whether it is refused. */
    @ParameterizedTest
    @CsvSource({
        ",      ,  ,      ,  ,     false", // nothing is asked for
        ",      ,  ,      ,  0,    false", // root is allowed
        "false, 0, ,      ,  0,    false",
        "true,  ,  ,      ,  ,     false", // the user is not known
        "true,  ,  ,      ,  1000, false",
        "true,  ,  ,      ,  0,    true", // the image's user, or the process's own
        "true,  0, ,      ,  1000, true", // its own user is root
        "true,  1, ,      ,  ,     false",
        "true,  0, ,      1, ,     false", // the container's counts
        "true,  1, ,      0, ,     true",
        "true,  0, false, ,  ,     false",
        "false, 0, true,  ,  ,     true",
        "true,  1, ,      ,  0,    true", // a runtime that does not obey runAsUser
    })
    void runAsNonRoot(
            @Nullable Boolean podNonRoot,
            @Nullable Long podUser,
            @Nullable Boolean nonRoot,
            @Nullable Long user,
            @Nullable Long ofTheRuntime,
            boolean refused) {
        String refusal = checks(false, ofTheRuntime).refusal(pod(podNonRoot, podUser), container(nonRoot, user));

        assertThat(refusal != null).isEqualTo(refused);
    }

    @Test
    void runAsNonRoot_messagesAreAKubelets() {
        assertThat(checks(false, null).refusal(pod(true, 0L), container(null, null)))
                .isEqualTo("container's runAsUser breaks non-root policy (pod: \"web_shop(u1)\", container: main)");
        assertThat(checks(false, 0L).refusal(pod(true, null), container(null, null)))
                .isEqualTo(
                        "container has runAsNonRoot and image will run as root (pod: \"web_shop(u1)\", container: main)");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "          | false |               | false | ",
                "Disabled   | false |               | false | ",
                "IfPossible | true  |               | false | ",
                "IfPossible | true  | None          | true  | ",
                "Enabled    | true  | None          | true  | ",
                "Enabled    | true  |               | false | supported by the runtime",
                "Enabled    | false |               | true  | read-only",
                "IfPossible | false |               | true  | read-only",
                "Enabled    | true  | HostToContainer | true | compatible with propagation \"HostToContainer\"",
            })
    void recursiveReadOnly(
            @Nullable String mode,
            boolean readOnly,
            @Nullable String propagation,
            boolean supported,
            @Nullable String missing) {
        Container container = new ContainerBuilder()
                .withName("main")
                .addNewVolumeMount()
                .withName("data")
                .withRecursiveReadOnly(mode)
                .withReadOnly(readOnly)
                .withMountPropagation(propagation)
                .endVolumeMount()
                .build();

        assertThat(checks(supported, null).refusal(pod(null, null), container))
                .isEqualTo(
                        missing == null
                                ? null
                                : "volume \"data\" requested recursive read-only mode, but it is not " + missing);
    }

    @ParameterizedTest
    @CsvSource({
        ",        ", // none is named
        "'',      ",
        "SIGTERM, ",
        "SIGUSR1, container's stopSignal \"SIGUSR1\" is not supported by the runtime",
    })
    void stopSignal(@Nullable String signal, @Nullable String refusal) {
        Container container = new ContainerBuilder()
                .withName("main")
                .withNewLifecycle()
                .withStopSignal(signal)
                .endLifecycle()
                .build();

        assertThat(checks(false, null).refusal(pod(null, null), container)).isEqualTo(refusal);
    }

    @Test
    void runtimeClass_thatTheRuntimeDoesNotHave_isRefused() {
        IsolationChecks having = new IsolationChecks(new PodIsolation() {
            @Override
            public boolean runtimeClass(String name) {
                return name.equals("gvisor");
            }
        });

        assertThat(having.refusal(ofRuntimeClass("gvisor"), container(null, null)))
                .isNull();
        assertThat(having.refusal(ofRuntimeClass(""), container(null, null))).isNull();
        assertThat(having.refusal(ofRuntimeClass("kata"), container(null, null)))
                .isEqualTo("pod's runtimeClassName \"kata\" is not supported by the runtime");
    }

    private static Pod ofRuntimeClass(String name) {
        return new PodBuilder(pod(null, null))
                .editSpec()
                .withRuntimeClassName(name)
                .endSpec()
                .build();
    }

    @Test
    void resourceClaims_areRefused_unlessTheRuntimeGivesTheirDevices() {
        Pod pod = new PodBuilder(pod(null, null))
                .editSpec()
                .addNewResourceClaim()
                .withName("gpu")
                .withResourceClaimName("gpu-1")
                .endResourceClaim()
                .endSpec()
                .build();
        IsolationChecks giving = new IsolationChecks(new PodIsolation() {
            @Override
            public boolean resourceClaims() {
                return true;
            }
        });

        assertThat(giving.refusal(pod, container(null, null))).isNull();
        assertThat(checks(false, null).refusal(pod, container(null, null)))
                .isEqualTo("pod's resourceClaims are not supported by the runtime");
    }

    @Test
    void runtimeClassIsNotSupported_containerWaits() {
        try (WorkersFixture node = new WorkersFixture()) {
            node.start();
            node.create(new PodBuilder(ofRuntimeClass("gvisor")));

            assertThat(node.waiting("web", "main"))
                    .isEqualTo("CreateContainerConfigError: pod's runtimeClassName \"gvisor\" is not supported by the"
                            + " runtime");
            assertThat(node.runtime.calls).isEmpty();
        }
    }

    @Test
    void restrictedPod_onAHollowNode_runs() {
        try (WorkersFixture node = new WorkersFixture()) {
            node.start();
            node.create(new PodBuilder(pod(true, null)));

            assertThat(node.status("web").getPhase()).isEqualTo("Running");
        }
    }

    @Test
    void containerWouldBeRoot_waitsWithAConfigurationError() {
        try (WorkersFixture node = new WorkersFixture()) {
            node.start();
            node.create(new PodBuilder(pod(true, 0L)));

            assertThat(node.waiting("web", "main"))
                    .startsWith("CreateContainerConfigError: container's runAsUser breaks non-root policy");
            assertThat(node.runtime.calls).isEmpty();
        }
    }

    @Test
    void hollowRuntime_declaresAll() {
        try (ManualTimekeeper time = new ManualTimekeeper()) {
            HollowRuntime hollow = new HollowRuntime(time);
            assertThat(hollow.userNamespaces()).isTrue();
            assertThat(hollow.strictSupplementalGroups()).isTrue();
            assertThat(hollow.recursiveReadOnly()).isTrue();
            assertThat(hollow.hostAliases()).isTrue();
            assertThat(hollow.dnsConfig()).isTrue();
            assertThat(hollow.runtimeClass("gvisor")).isTrue();
            assertThat(hollow.resourceClaims()).isTrue();
            assertThat(hollow.stopSignal("SIGUSR1")).isTrue();
        }
    }
}
