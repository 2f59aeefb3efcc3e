package dev.podcache.kubelet.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a container left, found by its environment. */
@EnabledOnOs(OS.LINUX)
class ContainerInstanceTest {

    @TempDir
    Path directory;

    private Process left;

    @BeforeEach
    void setUp() throws IOException {
        // cat answers, so that a test knows whether the process was killed; isAlive() may be late
        ProcessBuilder builder = new ProcessBuilder("cat");
        builder.environment().put("PODCACHE_ROOT", directory.resolve("root").toString());
        left = builder.start();
        assertThat(answer()).as("the command has begun").isEqualTo("x");
    }

    /** What the process answers; null if it was killed. */
    private @Nullable String answer() throws IOException {
        try {
            left.outputWriter().append("x\n").flush();
        } catch (IOException killed) {
            return null;
        }
        return left.inputReader().readLine();
    }

    @AfterEach
    void tearDown() throws InterruptedException {
        left.destroyForcibly().waitFor();
    }

    private ContainerInstance instance(String id) {
        return new ContainerInstance("main", directory, new ContainerRecord(id, "none", 0, 0, "/", "", false));
    }

    private void keep(String id) throws IOException {
        JsonFile.write(directory.resolve("container.json"), instance(id).record());
    }

    @Test
    void killLeft_killsTheProcess() throws IOException, InterruptedException {
        keep("process://1");

        instance("process://1").killLeft();

        assertThat(left.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(left.exitValue()).isEqualTo(137);
    }

    /** The end of a container may be noticed late, when its pod was forgotten and started again. */
    @Test
    void killLeft_directoryHasAnotherInstance_processLives() throws IOException {
        keep("process://2");

        instance("process://1").killLeft();

        assertThat(answer()).isEqualTo("x");
    }

    @Test
    void killLeft_directoryWasForgottenAndAnotherStarts_processLives() throws IOException {
        instance("process://1").killLeft();

        assertThat(answer()).isEqualTo("x");
    }
}
