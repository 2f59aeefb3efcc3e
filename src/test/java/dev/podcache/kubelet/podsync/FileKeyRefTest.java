package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A variable from a file, on a runtime whose volumes are no directories. */
@ExtendWith(NoLeaks.class)
class FileKeyRefTest {

    private final WorkersFixture node = new WorkersFixture().start();

    @AfterEach
    void tearDown() {
        node.close();
    }

    @Test
    void runtimeHasNoDirectories_containerWaits_andTheMessageNamesIt() {
        node.create(pod("web")
                .editSpec()
                .addNewVolume()
                .withName("config")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .editFirstContainer()
                .addNewEnv()
                .withName("FROM_FILE")
                .withNewValueFrom()
                .withNewFileKeyRef("TOKEN", true, "vars.env", "config")
                .endValueFrom()
                .endEnv()
                .endContainer()
                .endSpec());

        assertThat(node.waiting("web", "main"))
                .isEqualTo(
                        "CreateContainerConfigError: failed to get host path for volume \"config\": the runtime hollow"
                                + " does not support fileKeyRef: its volumes are no directories of this machine");
        assertThat(node.runtime.calls).isEmpty();
    }
}
