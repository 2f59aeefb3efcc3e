package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.Multimaps;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.kubelet.runtime.ForwardingRuntime;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodOrigin;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Static pods through any order of changes of their files, deletions of their mirror pods, outages of the API server and
 * restarts of the agent. Two pods of one name never run at once, and no mirror pod is ever run. When all is quiet, the
 * pods that run and the mirror pods are those of the files.
 */
@Slow
class NodeStaticPodsProperties {

    private static final Duration OF_A_READ = Duration.ofSeconds(20);

    /** What happens. */
    enum FileStep {
        WRITE,
        WRITE_ANOTHER,
        BREAK,
        DELETE,
        DELETE_MIRROR,
        DELETE_MIRROR_NOW,
        SERVER_FAILS,
        SERVER_ANSWERS,
        WATCHES_END,
        RESTART_AGENT,
        SOME_TIME_PASSES,
        A_READ
    }

    /** A step, and the file that it is about. */
    record FileEvent(FileStep step, int file) {}

    @Provide
    Arbitrary<List<FileEvent>> events() {
        return Combinators.combine(
                        Arbitraries.of(FileStep.values()),
                        Arbitraries.integers().between(0, 1))
                .as(FileEvent::new)
                .list()
                .ofMaxSize(30);
    }

    @Property(tries = 200)
    void anyOrder_endsWithThePodsOfTheFiles(@ForAll("events") List<FileEvent> events) throws IOException {
        Path manifests = Files.createTempDirectory("manifests");
        try (StaticNode node = new StaticNode(manifests)) {
            events.forEach(node::happen);
            node.calmDown();

            assertThat(node.runtime.broken).isEmpty();
            assertThat(node.running()).isEqualTo(node.expected);
            assertThat(node.mirrors()).isEqualTo(node.expected);
        } finally {
            try (Stream<Path> files = Files.list(manifests)) {
                files.forEach(NodeStaticPodsProperties::delete);
            }
            Files.delete(manifests);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class StaticNode implements AutoCloseable {

        private final AgentFixture fixture = new AgentFixture();
        private final Path manifests;
        private final CheckedRuntime runtime = new CheckedRuntime(fixture.timekeeper);
        /** The image of each pod, by its name. */
        private final Map<String, String> expected = new TreeMap<>();

        private NodeAgent agent;

        StaticNode(Path manifests) {
            this.manifests = manifests;
            this.agent = start();
        }

        private NodeAgent start() {
            NodeAgent started =
                    fixture.agent(options -> options.runtime(runtime).staticPods(manifests));
            started.start();
            return started;
        }

        void happen(FileEvent event) {
            Path file = manifests.resolve("pod-" + event.file + ".yaml");
            String name = "pod-" + event.file + "-" + AgentFixture.NODE;
            switch (event.step) {
                case WRITE -> write(file, name, "nginx");
                case WRITE_ANOTHER -> write(file, name, "httpd");
                case BREAK -> {
                    write(file, name, "[");
                    expected.remove(name);
                }
                case DELETE -> {
                    delete(file);
                    expected.remove(name);
                }
                case DELETE_MIRROR -> storedMirrors(name).forEach(fixture.server.cluster()::delete);
                case DELETE_MIRROR_NOW -> storedMirrors(name).forEach(fixture.server.cluster()::deleteNow);
                case SERVER_FAILS ->
                    fixture.server.failNext(
                            Integer.MAX_VALUE,
                            new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "for the test", null));
                case SERVER_ANSWERS -> fixture.server.clearFailures();
                case WATCHES_END -> fixture.server.resetWatches();
                case RESTART_AGENT -> {
                    agent.close();
                    agent = start();
                }
                case SOME_TIME_PASSES -> fixture.timekeeper.advance(Duration.ofSeconds(2));
                case A_READ -> fixture.timekeeper.advance(OF_A_READ);
                default -> throw new AssertionError(event);
            }
        }

        private void write(Path file, String name, String image) {
            String pod = "pod-" + file.getFileName().toString().charAt(4);
            try {
                Files.writeString(
                        file,
                        "{apiVersion: v1, kind: Pod, metadata: {name: " + pod
                                + "}, spec: {containers: [{name: main, image: " + image + "}]}}");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            expected.put(name, image);
        }

        /** Lets everything succeed for as long as the longest pause of a retry. */
        void calmDown() {
            fixture.server.clearFailures();
            fixture.timekeeper.advance(Duration.ofMinutes(3));
        }

        Map<String, String> running() {
            Map<String, String> running = new TreeMap<>();
            runtime.running().forEach((key, pod) -> running.put(key.name(), image(pod)));
            return running;
        }

        Map<String, String> mirrors() {
            Map<String, String> mirrors = new TreeMap<>();
            for (int i = 0; i < 2; i++) {
                String name = "pod-" + i + "-" + AgentFixture.NODE;
                for (Pod mirror : storedMirrors(name)) {
                    assertThat(PodOrigin.isMirror(mirror)).isTrue();
                    assertThat(mirror.getMetadata().getDeletionTimestamp()).isNull();
                    assertThat(mirror.getStatus().getPhase()).isEqualTo("Running");
                    mirrors.put(name, image(mirror));
                }
            }
            return mirrors;
        }

        private List<Pod> storedMirrors(String name) {
            return fixture.exists(Pod.class, ObjectKey.of("default", name))
                    ? List.of(fixture.server.cluster().get(ObjectKind.POD.model(), "default", name))
                    : List.of();
        }

        private static String image(Pod pod) {
            return pod.getSpec().getContainers().get(0).getImage();
        }

        @Override
        public void close() {
            fixture.close();
        }
    }

    /** A hollow runtime that outlives the agents, and notes what must not happen. */
    private static final class CheckedRuntime extends ForwardingRuntime {

        private final Map<PodKey, Pod> started = new HashMap<>();
        final List<String> broken = new ArrayList<>();

        CheckedRuntime(Timekeeper timekeeper) {
            super(new HollowRuntime(timekeeper));
        }

        Map<PodKey, Pod> running() {
            return started;
        }

        @Override
        public void startContainer(Pod pod, Container container, Launch launch) {
            if (PodOrigin.isMirror(pod)) {
                broken.add("a mirror pod was started");
            }
            started.put(PodReferences.key(pod), pod);
            Multimaps.index(started.keySet(), PodKey::name).asMap().forEach((name, keys) -> {
                if (keys.size() > 1) {
                    broken.add("two pods " + name + " run at once");
                }
            });
            hollow.startContainer(pod, container, launch);
        }

        @Override
        public void stopPod(PodKey pod, Duration gracePeriod) {
            started.remove(pod);
            hollow.stopPod(pod, gracePeriod);
        }

        @Override
        public void forget(PodKey pod) {
            started.remove(pod);
            hollow.forget(pod);
        }
    }
}
