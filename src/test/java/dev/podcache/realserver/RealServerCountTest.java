package dev.podcache.realserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.podcache.testing.RealApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class RealServerCountTest {

    @TempDir
    private Path folder;

    @Tag("real-server")
    static final class Tagged {

        @Test
        void passes() {}

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 3})
        void passesThrice(int number) {
            assertThat(number).isPositive();
        }

        @Test
        void fails() {
            throw new AssertionError("as it should");
        }

        @Test
        @Disabled("needs RBAC")
        void skipped() {}

        @Test
        void aborted() {
            abort("another version");
        }
    }

    @Tag("real-server")
    @Disabled("needs RBAC")
    static final class WholeClass {

        @Test
        void one() {}

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 3})
        void another(int number) {
            assertThat(number).isPositive();
        }
    }

    static final class Untagged {

        @Test
        void passes() {}
    }

    @Test
    void testsOfEveryFate_areCountedByTheirTag() throws IOException {
        run(Tagged.class, WholeClass.class, Untagged.class);

        String server =
                RealApiServer.versionFound().map(found -> found.toString()).orElse("none");
        String here = RealServerCountTest.class.getName();
        assertThat(written())
                .startsWith(
                        "server " + server,
                        "executed 5",
                        "failed 1",
                        "skipped 4",
                        "because 1 another version",
                        "because 3 needs RBAC")
                .contains(
                        "skip " + here + "$Tagged#skipped(): needs RBAC",
                        "skip " + here + "$Tagged#aborted(): another version",
                        "skip " + here + "$WholeClass: needs RBAC")
                .hasSize(9);
    }

    @Test
    void noRealServerTest_nothingIsWritten() {
        run(Untagged.class);

        assertThat(folder).isEmptyDirectory();
    }

    private void run(Class<?>... classes) {
        LauncherConfig config = LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .addTestExecutionListeners(new RealServerCount(folder))
                .build();
        LauncherFactory.create(config)
                .execute(LauncherDiscoveryRequestBuilder.request()
                        .selectors(Stream.of(classes)
                                .map(DiscoverySelectors::selectClass)
                                .toList())
                        .build());
    }

    private List<String> written() throws IOException {
        return Files.readAllLines(folder.resolve(ProcessHandle.current().pid() + ".txt"));
    }
}
