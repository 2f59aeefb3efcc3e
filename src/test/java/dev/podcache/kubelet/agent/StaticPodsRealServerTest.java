package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Static pods of an agent that has the identity of its node, which may create mirror pods only. */
@RealServerTest
@Needs(ServerFeature.SERVICES)
@ExtendWith(NoLeaks.class)
class StaticPodsRealServerTest {

    @TempDir
    private Path manifests;

    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private final String namespace = real.createNamespaceLike("static");
    private final String node = namespace;
    private final KubernetesClient client =
            new KubernetesClientBuilder().withConfig(real.nodeConfig(node)).build();
    private final Timekeeper timekeeper = Timekeeper.system();
    private final NotifyingRuntime runtime = new NotifyingRuntime(timekeeper);

    @AfterEach
    void tearDown() {
        client.close();
        timekeeper.close();
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        admin.nodes().withName(node).delete();
        admin.close();
    }

    private NodeAgent start() {
        NodeAgent agent = NodeAgent.builder(client)
                .node(node)
                .runtime(runtime)
                .staticPods(new StaticPodFiles(manifests, Duration.ofMillis(200)))
                .withoutServer()
                .build();
        agent.start();
        return agent;
    }

    private void write(String image) throws IOException {
        Path unfinished = manifests.resolve(".web.yaml");
        Files.writeString(
                unfinished,
                "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: " + namespace
                        + "}, spec: {containers: [{name: main, image: " + image + "}]}}");
        Files.move(unfinished, manifests.resolve("web.yaml"), StandardCopyOption.ATOMIC_MOVE);
    }

    private Optional<Pod> mirror() {
        return Optional.ofNullable(
                admin.pods().inNamespace(namespace).withName("web-" + node).get());
    }

    private boolean isRunning(Predicate<Pod> such) {
        return mirror().filter(mirror -> "Running".equals(mirror.getStatus().getPhase()))
                .filter(such)
                .isPresent();
    }

    private boolean isGone() {
        return mirror().isEmpty() && runningUids().isEmpty();
    }

    private List<String> runningUids() {
        return runtime.pods().stream().map(PodKey::uid).toList();
    }

    @Test
    void lifeOfAStaticPod_isThatOfItsFile(NoLeaks leaks) throws IOException {
        leaks.allowWarnings("no answer from"); // a busy machine
        write("nginx");
        try (NodeAgent agent = start()) {
            await().until(() -> isRunning(any -> true));
            Pod first = mirror().orElseThrow();
            List<String> running = runningUids();
            Node owner = admin.nodes().withName(node).get();
            assertThat(first.getMetadata().getOwnerReferences())
                    .singleElement()
                    .satisfies(reference -> assertThat(reference.getUid())
                            .isEqualTo(owner.getMetadata().getUid()));
            assertThat(first.getMetadata().getAnnotations())
                    .containsEntry("kubernetes.io/config.mirror", running.get(0))
                    .containsEntry("kubernetes.io/config.source", "file");

            // as kubectl does, with a grace period
            admin.pods().inNamespace(namespace).withName("web-" + node).delete();
            String uid = first.getMetadata().getUid();
            await().until(() ->
                    isRunning(mirror -> !uid.equals(mirror.getMetadata().getUid())));
            assertThat(runningUids()).isEqualTo(running);

            write("httpd");
            await().until(() -> isRunning(
                    mirror -> mirror.getSpec().getContainers().get(0).getImage().equals("httpd")));
            assertThat(runningUids()).hasSize(1).isNotEqualTo(running);

            Files.delete(manifests.resolve("web.yaml"));
            await().until(this::isGone);
            assertThat(agent.pods()).isEmpty();
        }
    }

    @Test
    @ExpectedWarnings("the runtime has it, but neither the API server nor a file of this node")
    void agentIsAwayWhileTheFileIsDeleted_itsMirrorPodGoes() throws IOException {
        write("nginx");
        try (NodeAgent agent = start()) {
            await().until(() -> isRunning(any -> true));
            assertThat(agent.status().registered()).isTrue();
        }
        assertThat(isRunning(any -> true)).isTrue();
        Files.delete(manifests.resolve("web.yaml"));

        try (NodeAgent agent = start()) {
            await().until(this::isGone);
            assertThat(agent.pods()).isEmpty();
        }
    }
}
