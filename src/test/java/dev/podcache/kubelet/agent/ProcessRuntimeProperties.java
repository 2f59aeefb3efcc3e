package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

/** Status and files agree after every sequence of starts, ends and restarts of the runtime. */
class ProcessRuntimeProperties {

    /** What happens to a container or to its runtime. */
    enum RuntimeStep {
        START,
        STOP,
        END,
        CRASH,
        RESTART_RUNTIME
    }

    /** The container {@code main} and the model of its status. */
    private static final class ModelledProcess {

        private final ProcessFixture fixture;
        private int starts;
        private boolean running;
        private @Nullable Integer exitCode; // of the last instance that ended
        private @Nullable Integer exitCodeBefore; // of the one before

        ModelledProcess(Path directory) {
            this.fixture = new ProcessFixture(directory);
        }

        void take(RuntimeStep step) throws IOException, InterruptedException {
            switch (step) {
                case START -> start();
                case STOP -> stop();
                case END -> end(5, "exit 5");
                case CRASH -> end(128 + 11, "kill -SEGV $$");
                case RESTART_RUNTIME -> fixture.restarted();
            }
        }

        /** Starts a container that executes the file {@code end} once there is one. */
        private void start() throws IOException, InterruptedException {
            if (!running) {
                String script = "echo start-" + starts + "; while [ ! -e end ]; do sleep 0.02; done; . ./end";
                fixture.start(ProcessFixture.restart(starts, script));
                String output = "start-" + starts + "\n";
                // a stop that comes first would end the command before it writes
                Patience.await().until(() -> fixture.logs().equals(output));
                starts++;
                running = true;
            }
        }

        private void stop() throws IOException, InterruptedException {
            fixture.stop(Duration.ofMinutes(1));
            if (running) {
                ended(143);
            }
        }

        private void end(int code, String script) throws IOException {
            if (running) {
                Path root = fixture.instance(starts - 1).resolve("root");
                Files.writeString(root.resolve("end.new"), script);
                Files.move(root.resolve("end.new"), root.resolve("end"));
                Patience.await().until(() -> !fixture.isRunning());
                ended(code);
            }
        }

        private void ended(int code) {
            running = false;
            exitCodeBefore = exitCode;
            exitCode = code;
        }

        void check() throws IOException {
            List<ContainerStatus> statuses = fixture.runtime.status(fixture.pod).containers();
            if (starts == 0) {
                assertThat(statuses).isEmpty();
                return;
            }
            ContainerStatus status = statuses.get(0);
            assertThat(status.getRestartCount()).isEqualTo(starts - 1);
            assertThat(status.getState().getRunning() != null).isEqualTo(running);
            assertThat(exitCode(status.getState())).isEqualTo(running ? null : exitCode);
            assertThat(exitCode(status.getLastState())).isEqualTo(running ? exitCode : exitCodeBefore);
            if (starts > 1) {
                assertThat(fixture.logs(new LogOptions(false, true, false, OptionalLong.empty(), Optional.empty())))
                        .isEqualTo("start-" + (starts - 2) + "\n");
            }
            if (!running) {
                assertThat(fixture.logs()).isEqualTo("start-" + (starts - 1) + "\n");
            }
        }

        private static @Nullable Integer exitCode(@Nullable ContainerState state) {
            return state == null || state.getTerminated() == null
                    ? null
                    : state.getTerminated().getExitCode();
        }
    }

    @Property(tries = 12)
    void anySequence_statusAndOutputAreThoseOfTheModel(@ForAll @Size(min = 4, max = 8) List<RuntimeStep> steps)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("processes");
        ModelledProcess container = new ModelledProcess(directory);
        try {
            for (RuntimeStep step : steps) {
                container.take(step);
                container.check();
            }
        } finally {
            container.fixture.close();
            MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }
}
