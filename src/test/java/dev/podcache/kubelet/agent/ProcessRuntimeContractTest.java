package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.testing.PodRuntimeContract;
import dev.podcache.time.Timekeeper;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class ProcessRuntimeContractTest extends PodRuntimeContract {

    private final Timekeeper timekeeper = Timekeeper.system();

    @TempDir
    private Path directory;

    @AfterEach
    void tearDown() {
        timekeeper.close();
    }

    @Override
    protected PodRuntime runtime() {
        return ProcessRuntime.in(directory, timekeeper);
    }

    @Override
    protected Launch launch(boolean ends) {
        return ProcessFixture.launch(Map.of(), "sleep", ends ? "0.2" : "300");
    }
}
