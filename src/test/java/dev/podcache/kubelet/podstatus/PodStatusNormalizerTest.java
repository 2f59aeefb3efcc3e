package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.ended;
import static dev.podcache.kubelet.podstatus.Given.pod;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.since;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static dev.podcache.kubelet.podstatus.Given.withInit;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodIP;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TestStatusNormalizationEnforcesMaxBytes of upstream, and the other normalisations. */
@ExtendWith(NoLeaks.class)
class PodStatusNormalizerTest {

    private static final int CONTAINERS = 24;

    private static ContainerStatus said(String name, String message) {
        ContainerStatus status = ended(name, 1);
        status.getState().getTerminated().setMessage(message);
        return status;
    }

    @ParameterizedTest
    @ValueSource(ints = {192, 208, 256, 257, 400})
    void normalised_messagesOfManyContainers_fitTogether(int length) {
        String[] names = IntStream.range(0, CONTAINERS).mapToObj(i -> "c" + i).toArray(String[]::new);
        String[] init = IntStream.range(0, CONTAINERS).mapToObj(i -> "i" + i).toArray(String[]::new);
        PodStatus status = withInit(
                statusOf(names, length),
                statusOf(init, length).getContainerStatuses().toArray(new ContainerStatus[0]));

        PodStatus normalised = PodStatusNormalizer.normalised(pod(withInit(spec("Never", names), init)), status);

        int each = Math.min(length, PodStatusNormalizer.MAX_MESSAGE_BYTES / (2 * CONTAINERS));
        assertThat(PodParts.containers(normalised))
                .hasSize(2 * CONTAINERS)
                .allSatisfy(container -> assertThat(
                                container.getState().getTerminated().getMessage())
                        .hasSize(each));
    }

    private static PodStatus statusOf(String[] names, int length) {
        return status(
                "Failed",
                java.util.Arrays.stream(names)
                        .map(name -> said(name, "m".repeat(length)))
                        .toArray(ContainerStatus[]::new));
    }

    @Test
    void normalised_messageOfManyBytesACharacter_isCutBetweenTwo() {
        PodStatus normalised = PodStatusNormalizer.normalised(
                pod(spec("Never", "a")), status("Failed", said("a", "x" + "\u20ac".repeat(5000))));

        String message = normalised
                .getContainerStatuses()
                .get(0)
                .getState()
                .getTerminated()
                .getMessage();
        assertThat(message).matches("x\u20ac+");
        assertThat(message.getBytes(UTF_8)).hasSizeBetween(12286, 12288);
    }

    @Test
    void normalised_lastMessage_isCutToo() {
        ContainerStatus container = new ContainerStatusBuilder(running("a"))
                .withLastState(said("a", "m".repeat(20000)).getState())
                .build();

        PodStatus normalised = PodStatusNormalizer.normalised(pod(spec("Always", "a")), status("Running", container));

        assertThat(normalised
                        .getContainerStatuses()
                        .get(0)
                        .getLastState()
                        .getTerminated()
                        .getMessage())
                .hasSize(12288);
    }

    @ParameterizedTest
    @CsvSource({
        "2026-01-01T00:00:00.123456789Z, 2026-01-01T00:00:00Z",
        "2026-01-01T02:00:00+02:00, 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:07Z, 2026-01-01T00:00:07Z",
        "yesterday, yesterday"
    })
    void normalised_times_areWholeSeconds(String time, String expected) {
        ContainerStatus container = running("a");
        container.getState().getRunning().setStartedAt(time);
        container.setLastState(ended("a", 1).getState());
        container.getLastState().getTerminated().setStartedAt(time);
        container.getLastState().getTerminated().setFinishedAt(time);
        PodStatus status = withConditions(status("Running", container), since(condition("Ready", "True"), time));
        status.getConditions().get(0).setLastProbeTime(time);
        status.setStartTime(time);

        PodStatus normalised = PodStatusNormalizer.normalised(pod(spec("Always", "a")), status);

        ContainerStatus first = normalised.getContainerStatuses().get(0);
        assertThat(normalised.getStartTime()).isEqualTo(expected);
        assertThat(normalised.getConditions().get(0).getLastTransitionTime()).isEqualTo(expected);
        assertThat(normalised.getConditions().get(0).getLastProbeTime()).isEqualTo(expected);
        assertThat(first.getState().getRunning().getStartedAt()).isEqualTo(expected);
        assertThat(first.getLastState().getTerminated().getStartedAt()).isEqualTo(expected);
        assertThat(first.getLastState().getTerminated().getFinishedAt()).isEqualTo(expected);
    }

    @Test
    void normalised_order_isByNameAndForInitContainersThatOfTheSpec() {
        PodStatus status =
                withInit(status("Pending", waiting("b"), waiting("a")), waiting("x"), waiting("z"), waiting("y"));

        PodStatus normalised =
                PodStatusNormalizer.normalised(pod(withInit(spec("Always", "b", "a"), "z", "y", "x")), status);

        assertThat(normalised.getContainerStatuses())
                .extracting(ContainerStatus::getName)
                .containsExactly("a", "b");
        assertThat(normalised.getInitContainerStatuses())
                .extracting(ContainerStatus::getName)
                .containsExactly("z", "y", "x");
    }

    @Test
    void normalised_ephemeralContainers_areOrderedAndShareTheBytesOfMessages() {
        Pod pod = pod(new PodSpecBuilder(spec("Never", "a"))
                .addNewEphemeralContainer()
                .withName("x")
                .endEphemeralContainer()
                .addNewEphemeralContainer()
                .withName("y")
                .endEphemeralContainer()
                .build());
        PodStatus status = new PodStatusBuilder(status("Failed", said("a", "m".repeat(20000))))
                .withEphemeralContainerStatuses(said("y", "m".repeat(20000)), said("x", "short"))
                .build();

        PodStatus normalised = PodStatusNormalizer.normalised(pod, status);

        assertThat(normalised.getEphemeralContainerStatuses())
                .extracting(ContainerStatus::getName)
                .containsExactly("x", "y");
        assertThat(Stream.concat(
                        normalised.getContainerStatuses().stream(),
                        normalised.getEphemeralContainerStatuses().stream()))
                .extracting(container ->
                        container.getState().getTerminated().getMessage().length())
                .containsExactly(12288 / 3, 5, 12288 / 3);
    }

    @Test
    void normalised_statusOfAPodWithoutContainers_hasAllBytesOfMessages() {
        PodStatus normalised =
                PodStatusNormalizer.normalised(pod(spec("Never")), status("Failed", said("a", "m".repeat(20000))));

        assertThat(normalised
                        .getContainerStatuses()
                        .get(0)
                        .getState()
                        .getTerminated()
                        .getMessage())
                .hasSize(12288);
    }

    @Test
    void normalised_whatIsLeftOut_isWhatTheServerWritesForIt() {
        ContainerStatus silent = new ContainerStatusBuilder(ended("a", 1))
                .withReady(null)
                .withRestartCount(null)
                .editState()
                .editTerminated()
                .withExitCode(null)
                .endTerminated()
                .endState()
                .build();

        ContainerStatus normalised = normalised(silent);

        assertThat(normalised.getReady()).isFalse();
        assertThat(normalised.getRestartCount()).isZero();
        assertThat(normalised.getState().getTerminated().getExitCode()).isZero();
    }

    @Test
    void normalised_whatIsSaid_stays() {
        ContainerStatus said = new ContainerStatusBuilder(ended("a", 2))
                .withReady(true)
                .withRestartCount(3)
                .build();

        assertThat(normalised(said)).isEqualTo(said);
    }

    private static ContainerStatus normalised(ContainerStatus container) {
        return PodStatusNormalizer.normalised(pod(spec("Never", "a")), status("Failed", container))
                .getContainerStatuses()
                .get(0);
    }

    @Test
    void normalised_whatItIsGiven_isNotModified(NoLeaks leaks) {
        PodStatus status = status("Failed", said("b", "m".repeat(20000)), said("a", "m"));
        status.setStartTime("2026-01-01T00:00:00.5Z");
        leaks.watchForMutation(status);

        PodStatusNormalizer.normalised(pod(spec("Never", "a", "b")), status);
    }

    /** A kube-apiserver does the same, and would answer with another status than it was sent. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-, -, -, -",
                "10.0.0.1, -, 10.0.0.1, 10.0.0.1",
                "-, 10.0.0.1 fd00::1, 10.0.0.1, 10.0.0.1 fd00::1",
                "10.0.0.1, 10.0.0.1 fd00::1, 10.0.0.1, 10.0.0.1 fd00::1",
                "10.0.0.2, 10.0.0.1 fd00::1, 10.0.0.2, 10.0.0.2"
            })
    void normalised_addressAndAddresses_agree(
            @Nullable String address,
            @Nullable String addresses,
            @Nullable String expected,
            @Nullable String expectedAddresses) {
        PodStatus status = status("Running");
        status.setPodIP(address);
        status.setPodIPs(podIps(addresses));

        PodStatus normalised = PodStatusNormalizer.normalised(pod(spec("Always", "c1")), status);

        assertThat(normalised.getPodIP()).isEqualTo(expected);
        assertThat(PodParts.present(normalised.getPodIPs())).isEqualTo(podIps(expectedAddresses));
    }

    private static List<PodIP> podIps(@Nullable String addresses) {
        return addresses == null
                ? List.of()
                : Stream.of(addresses.split(" ")).map(PodIP::new).toList();
    }
}
