package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.agent.ProcessRuntime;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Pods whose containers are processes, from their assignment to their end. */
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class ProcessPodsTest {

    /** Says the secret, and executes the file {@code end} once there is one. */
    private static final String SCRIPT = "cat etc/db/value; while [ ! -e end ]; do sleep 0.02; done; . ./end";

    @TempDir
    Path directory;

    private final BlockingQueue<String> changes = new LinkedBlockingQueue<>();
    private ProcessRuntime processes;
    private final WorkersFixture node = new WorkersFixture();
    private Pod pod;
    private PodKey key;

    @BeforeEach
    void setUp() {
        processes = ProcessRuntime.in(directory, node.timekeeper);
        node.runtime.runtime = processes;
        processes.listen(new RuntimeEvents() {
            @Override
            public void changed(String podUid) {
                changes.add(podUid);
            }

            @Override
            public void healthChanged() {}
        });
        node.secret("db", "s3cret");
        node.start();
        pod = node.create(podWithSecret("Always"));
        key = PodReferences.key(pod);
    }

    @AfterEach
    void tearDown() throws IOException, InterruptedException {
        processes.stopPod(key, Duration.ZERO);
        node.close();
    }

    private static PodBuilder podWithSecret(String restartPolicy) {
        return Pods.withVolume(WorkersFixture.pod("web-" + restartPolicy.toLowerCase(Locale.ROOT)), "db")
                .editSpec()
                .withRestartPolicy(restartPolicy)
                .editFirstContainer()
                .withCommand("sh", "-c", SCRIPT)
                .addNewVolumeMount()
                .withName("v-db")
                .withMountPath("/etc/db")
                .endVolumeMount()
                .endContainer()
                .endSpec();
    }

    /** Lets a start of the container end, and syncs the pod when the runtime asks for it. */
    private void end(int start, String script) throws IOException, InterruptedException {
        Path root = directory.resolve("pods/" + key.uid() + "/containers/main/" + start + "/root");
        Files.writeString(root.resolve("end.new"), script);
        Files.move(root.resolve("end.new"), root.resolve("end"));
        String changed = changes.poll(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(changed).isEqualTo(key.uid());
        node.workers.changed(changed);
        node.settle();
    }

    private ContainerStatus main() {
        return node.container(key.name(), "main");
    }

    @Test
    void podWithSecretVolume_runsAndReadsIt() throws IOException {
        assertThat(node.status(key.name()).getPhase()).isEqualTo("Running");
        assertThat(node.status(key.name()).getPodIP()).isEqualTo("127.0.0.1");
        assertThat(main().getReady()).isTrue();
        assertThat(main().getContainerID()).startsWith("process://");
    }

    @Test
    void containerCrashes_isRestartedWithBackOffAndItsExitCodeReported() throws IOException, InterruptedException {
        end(0, "exit 3");

        assertThat(main().getRestartCount()).isEqualTo(1);
        assertThat(main().getState().getRunning()).isNotNull();
        assertThat(main().getLastState().getTerminated().getExitCode()).isEqualTo(3);

        end(1, "exit 4");

        assertThat(node.waiting(key.name(), "main")).startsWith("CrashLoopBackOff: back-off 10s");
        assertThat(main().getLastState().getTerminated().getExitCode()).isEqualTo(4);

        node.timekeeper.advance(Duration.ofMinutes(1));

        assertThat(main().getRestartCount()).isEqualTo(2);
        assertThat(main().getState().getRunning()).isNotNull();
    }

    @Test
    void jobEnds_podSucceeds() throws IOException, InterruptedException {
        processes.stopPod(key, Duration.ZERO);
        changes.poll(Patience.SECONDS, TimeUnit.SECONDS);
        pod = node.create(podWithSecret("Never"));
        key = PodReferences.key(pod);

        end(0, "exit 0");

        assertThat(node.status(key.name()).getPhase()).isEqualTo("Succeeded");
        assertThat(main().getState().getTerminated().getReason()).isEqualTo("Completed");
    }

    @Test
    void podIsForceDeleted_processEndsAndNothingIsLeft() {
        node.server.cluster().deleteNow(pod);
        node.settle();

        assertThat(directory.resolve("pods/" + key.uid())).doesNotExist();
        assertThat(processes.pods()).isEmpty();
    }
}
