package dev.podcache.kubelet.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class ContainerProcessesTest {

    private static final int READS = 1_000;

    @TempDir
    private Path folder;

    /** Between two programs, a process has no variables for a moment: whoever looks for its container then would not find it. */
    @Test
    void environment_processThatExecutesOneProgramAfterTheOther_isAlwaysThatOfOne() throws Exception {
        Path script = folder.resolve("again");
        Files.writeString(script, "exec sh \"$0\"\n");
        ProcessBuilder builder = new ProcessBuilder("sh", script.toString());
        builder.environment().put(ContainerProcesses.VARIABLE, "/some/root");
        Process process = builder.start();
        try {
            for (int i = 0; i < READS; i++) {
                assertThat(ContainerProcesses.environment(process.pid())).contains("PODCACHE_ROOT=/some/root");
            }
        } finally {
            process.destroyForcibly();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void environment_processWithoutVariables_isEmpty() throws Exception {
        Process process = new ProcessBuilder("env", "-i", "sleep", "300").start();
        try {
            while (ContainerProcesses.environment(process.pid()).iterator().hasNext()) {
                Thread.onSpinWait();
            }
            assertThat(ContainerProcesses.environment(process.pid())).isEmpty();
        } finally {
            process.destroyForcibly();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }
}
