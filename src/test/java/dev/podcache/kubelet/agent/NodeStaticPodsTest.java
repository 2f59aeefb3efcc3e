package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.StatusException;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.object.FailureReason;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodOrigin;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Static pods of a whole agent, on an API server in memory. */
@ExtendWith(NoLeaks.class)
class NodeStaticPodsTest {

    private static final Duration READ = Duration.ofSeconds(20);
    private static final String MIRROR = "web-worker-1";

    @TempDir
    private Path manifests;

    private final AgentFixture fixture = new AgentFixture();
    private final HollowRuntime runtime = new HollowRuntime(fixture.timekeeper);

    @AfterEach
    void tearDown() {
        fixture.close();
    }

    private NodeAgent start() {
        NodeAgent agent = fixture.agent(options -> options.runtime(runtime).staticPods(manifests));
        agent.start();
        return agent;
    }

    private void advance(Duration time) {
        fixture.timekeeper.advance(time);
    }

    private void write(String image) throws IOException {
        Files.writeString(
                manifests.resolve("web.yaml"),
                "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: " + image
                        + "}]}}");
    }

    private void deleteFile() throws IOException {
        Files.delete(manifests.resolve("web.yaml"));
    }

    private Optional<Pod> mirror() {
        try {
            return Optional.of(fixture.server.cluster().get(Pod.class, "default", MIRROR));
        } catch (StatusException none) {
            return Optional.empty();
        }
    }

    private String mirrorPhase() {
        return mirror().orElseThrow().getStatus().getPhase();
    }

    private List<String> runningUids() {
        return runtime.pods().stream().map(PodKey::uid).toList();
    }

    private void failAllRequests() {
        fixture.server.failNext(
                Integer.MAX_VALUE, new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "for the test", null));
    }

    @Test
    void start_manifest_podRunsAndItsMirrorPodSaysSo() throws IOException {
        write("nginx");

        NodeAgent agent = start();
        advance(Duration.ofSeconds(5));

        assertThat(mirrorPhase()).isEqualTo("Running");
        assertThat(mirror().orElseThrow().getStatus().getHostIP()).isEqualTo("192.0.2.7");
        assertThat(agent.pods())
                .singleElement()
                .satisfies(pod -> assertThat(PodOrigin.isStatic(pod)).isTrue());
        assertThat(runningUids())
                .containsExactly(
                        mirror().orElseThrow().getMetadata().getAnnotations().get(PodOrigin.MIRROR));
    }

    @Test
    void pods_ofTheAgentAndItsPage_haveTheStatusOfTheirContainers() throws IOException {
        write("nginx");
        NodeAgent agent = start();
        advance(Duration.ofSeconds(5));

        Pod first = shown(agent.pods());
        assertThat(first.getStatus().getPhase()).isEqualTo("Running");
        assertThat(first.getStatus().getContainerStatuses().get(0).getState().getRunning())
                .isNotNull();
        assertThat(shown(agent.view().pods())).isEqualTo(first);

        deleteFile();
        advance(READ);
        assertThat(agent.pods()).isEmpty();
    }

    private static Pod shown(List<Pod> pods) {
        assertThat(pods).hasSize(1);
        return pods.get(0);
    }

    @Test
    void start_apiServerDoesNotAnswer_podRuns_andItsMirrorPodComesLater(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("for the test");
        write("nginx");
        failAllRequests();

        NodeAgent agent = start();
        advance(Duration.ofSeconds(30));
        assertThat(runningUids()).hasSize(1);
        assertThat(shown(agent.pods()).getStatus().getPhase()).isEqualTo("Running");

        fixture.server.clearFailures();
        advance(Duration.ofMinutes(1));
        assertThat(mirrorPhase()).isEqualTo("Running");
        assertThat(runningUids()).hasSize(1);
    }

    @Test
    void mirrorPodIsDeleted_podRunsOn_andANewMirrorPodHasItsStatus() throws IOException {
        write("nginx");
        start();
        advance(Duration.ofSeconds(5));
        Pod before = mirror().orElseThrow();
        List<String> running = runningUids();

        fixture.server.cluster().delete(before);
        advance(Duration.ofSeconds(1));

        assertThat(mirror().orElseThrow().getMetadata().getUid())
                .isNotEqualTo(before.getMetadata().getUid());
        assertThat(mirrorPhase()).isEqualTo("Running");
        assertThat(mirror().orElseThrow().getStatus().getStartTime())
                .isEqualTo(before.getStatus().getStartTime());
        assertThat(runningUids()).isEqualTo(running);
    }

    @Test
    void fileIsDeleted_podStops_andItsMirrorPodGoes() throws IOException {
        write("nginx");
        NodeAgent agent = start();
        advance(Duration.ofSeconds(5));

        deleteFile();
        advance(READ);

        assertThat(runningUids()).isEmpty();
        assertThat(mirror()).isEmpty();
        assertThat(agent.pods()).isEmpty();
    }

    @Test
    void fileChanges_anotherPodReplacesTheOld() throws IOException {
        write("nginx");
        start();
        advance(Duration.ofSeconds(5));
        List<String> before = runningUids();

        write("httpd");
        advance(READ);

        assertThat(runningUids()).hasSize(1).doesNotContainAnyElementsOf(before);
        assertThat(mirror().orElseThrow().getMetadata().getAnnotations())
                .containsEntry(PodOrigin.MIRROR, runningUids().get(0));
        assertThat(mirrorPhase()).isEqualTo("Running");
    }

    @Test
    void fileComesBack_sameUidRunsAgain() throws IOException {
        write("nginx");
        start();
        advance(Duration.ofSeconds(5));
        List<String> before = runningUids();
        deleteFile();
        advance(READ);

        write("nginx");
        advance(READ);

        assertThat(runningUids()).isEqualTo(before);
        assertThat(mirrorPhase()).isEqualTo("Running");
    }

    @Test
    void restart_fileIsThere_podIsNeitherStoppedNorItsMirrorPodReplaced() throws IOException {
        write("nginx");
        NodeAgent first = start();
        advance(Duration.ofSeconds(5));
        Pod before = mirror().orElseThrow();
        List<String> running = runningUids();
        first.close();
        fixture.server.clearActions();

        start();
        advance(READ);

        assertThat(runningUids()).isEqualTo(running);
        assertThat(mirror().orElseThrow().getMetadata().getUid())
                .isEqualTo(before.getMetadata().getUid());
        assertThat(fixture.calls()).doesNotContainKeys("CREATE Pod", "DELETE Pod");
    }

    @Test
    void restart_historyOfThePodIsKept() throws IOException {
        write("nginx");
        HollowRuntime crashing = new HollowRuntime(
                fixture.timekeeper,
                List.of(new HollowStage(Map.of(), Duration.ZERO, Duration.ofMinutes(2), 1)),
                pod -> List.of());
        NodeAgent first = fixture.agent(options -> options.runtime(crashing).staticPods(manifests));
        first.start();
        // it ends twice, and the second time it waits
        advance(Duration.ofSeconds(260));
        PodStatus before = mirror().orElseThrow().getStatus();
        assertThat(before.getContainerStatuses().get(0).getRestartCount()).isEqualTo(2);
        assertThat(before.getContainerStatuses().get(0).getState().getRunning()).isNotNull();
        assertThat(before.getContainerStatuses().get(0).getLastState()).isNotNull();
        first.close();

        NodeAgent next = fixture.agent(options -> options.runtime(crashing).staticPods(manifests));
        next.start();
        advance(READ);

        PodStatus after = mirror().orElseThrow().getStatus();
        assertThat(after.getStartTime()).isEqualTo(before.getStartTime());
        assertThat(after.getConditions()).isEqualTo(before.getConditions());
        assertThat(after.getContainerStatuses()).isEqualTo(before.getContainerStatuses());

        advance(Duration.ofSeconds(80));
        assertThat(shown(next.pods()).getStatus().getContainerStatuses())
                .extracting(ContainerStatus::getRestartCount, ContainerStatus::getLastState)
                .containsExactly(tuple(2, before.getContainerStatuses().get(0).getLastState()));
        assertThat(mirror().orElseThrow().getStatus()).isEqualTo(after);
    }

    @Test
    @ExpectedWarnings("the runtime has it, but neither the API server nor a file of this node")
    void restart_fileIsGone_podIsStoppedAndItsMirrorPodDeleted() throws IOException {
        write("nginx");
        NodeAgent first = start();
        advance(Duration.ofSeconds(5));
        first.close();
        deleteFile();

        start();
        advance(Duration.ofSeconds(5));

        assertThat(runningUids()).isEmpty();
        assertThat(mirror()).isEmpty();
    }

    @Test
    void restart_fileIsGoneAndComesBackChanged_serverDoesNotAnswer_oldPodStopsBeforeTheNewStarts(NoLeaks leaks)
            throws IOException {
        leaks.allowWarnings("for the test");
        write("nginx");
        NodeAgent first = start();
        advance(Duration.ofSeconds(5));
        first.close();
        List<String> before = runningUids();
        deleteFile();
        failAllRequests();
        start();
        advance(Duration.ofSeconds(5));
        // nothing is stopped before the pods of the API server are known
        assertThat(runningUids()).isEqualTo(before);

        write("httpd");
        advance(READ);

        assertThat(runningUids()).hasSize(1).doesNotContainAnyElementsOf(before);
    }

    @Test
    @ExpectedWarnings("the runtime has it, but neither the API server nor a file of this node")
    void restart_noStaticPodsAnyMore_podIsStoppedAndItsMirrorPodDeleted() throws IOException {
        write("nginx");
        NodeAgent first = start();
        advance(Duration.ofSeconds(5));
        first.close();

        fixture.agent(options -> options.runtime(runtime)).start();
        advance(Duration.ofSeconds(5));

        assertThat(runningUids()).isEmpty();
        assertThat(mirror()).isEmpty();
    }

    @Test
    void restart_folderCannotBeReadAtFirst_podsOfTheRuntimeAreNotStopped(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("static pod path ");
        leaks.allowWarnings("the runtime has it, but neither the API server nor a file of this node");
        write("nginx");
        NodeAgent first = start();
        advance(Duration.ofSeconds(5));
        first.close();
        List<String> running = runningUids();
        Path loop = Files.createSymbolicLink(manifests.resolveSibling(manifests.getFileName() + "-loop"), manifests);
        Files.delete(loop);
        Files.createSymbolicLink(loop, loop);

        fixture.agent(options -> options.runtime(runtime).staticPods(loop)).start();
        advance(Duration.ofSeconds(5));
        assertThat(runningUids()).isEqualTo(running);
        assertThat(mirror()).isPresent();

        Files.delete(loop);
        Files.createDirectory(loop);
        advance(READ);
        assertThat(runningUids()).isEmpty();
        assertThat(mirror()).isEmpty();
        Files.delete(loop);
    }

    @Test
    void otherPods_areRunAsEver(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("connection closed");
        write("nginx");
        fixture.createPods(2);
        NodeAgent agent = start();
        advance(Duration.ofSeconds(15));

        assertThat(fixture.pod("web-0").getStatus().getPhase()).isEqualTo("Running");
        assertThat(runningUids()).hasSize(3);
        fixture.server.cluster().delete(fixture.pod("web-0"));
        fixture.server.resetWatches();
        advance(Duration.ofSeconds(45));
        assertThat(runningUids()).hasSize(2);
        assertThat(agent.pods()).hasSize(2);
        assertThat(mirrorPhase()).isEqualTo("Running");
    }

    @Test
    void podOfTheServerThatClaimsToBeStatic_isAnOrdinaryPod() {
        fixture.createPods(1);
        Pod claims = new PodBuilder(fixture.pod("web-0"))
                .editMetadata()
                .addToAnnotations(PodOrigin.SOURCE, "file")
                .endMetadata()
                .build();
        fixture.server.cluster().update(claims);
        NodeAgent agent = start();
        advance(Duration.ofSeconds(15));
        assertThat(fixture.pod("web-0").getStatus().getPhase()).isEqualTo("Running");
        assertThat(agent.pods()).noneMatch(PodOrigin::isStatic);

        fixture.server.cluster().delete(fixture.pod("web-0"));
        advance(Duration.ofSeconds(45));

        assertThat(agent.pods()).isEmpty();
    }
}
