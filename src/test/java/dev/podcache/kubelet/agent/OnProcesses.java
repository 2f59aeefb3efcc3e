package dev.podcache.kubelet.agent;

import dev.podcache.testing.NoLeaks;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the tests of the process runtime share: a fixture whose runtime has the folder {@code runtime} of a temporary directory. */
@ExtendWith(NoLeaks.class)
abstract class OnProcesses {

    @TempDir
    Path directory;

    ProcessFixture fixture;

    @BeforeEach
    void startRuntime() {
        fixture = new ProcessFixture(directory.resolve("runtime"));
    }

    @AfterEach
    void closeRuntime() throws IOException {
        fixture.close();
    }
}
