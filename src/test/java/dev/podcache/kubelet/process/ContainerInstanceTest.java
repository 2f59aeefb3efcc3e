package dev.podcache.kubelet.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Patience;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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
        ProcessBuilder builder = new ProcessBuilder("sleep", "300").redirectInput(new File("/dev/null"));
        builder.environment().put("PODCACHE_ROOT", directory.resolve("root").toString());
        left = builder.start();
    }

    @AfterEach
    void tearDown() throws InterruptedException {
        left.destroyForcibly().waitFor();
    }

    private ContainerInstance instance(String id) {
        return new ContainerInstance("main", directory, new ContainerRecord(id, "none", 0, 0, "/"));
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

        assertThat(left.isAlive()).isTrue();
    }

    @Test
    void killLeft_directoryWasForgottenAndAnotherStarts_processLives() {
        instance("process://1").killLeft();

        assertThat(left.isAlive()).isTrue();
    }
}
