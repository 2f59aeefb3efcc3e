package dev.podcache.realserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manifests of {@code deploy/} as a server reads them: defaults, validation and admission, by its own kubectl. */
@RealServerTest
@Needs({ServerFeature.VALIDATION, ServerFeature.RBAC})
class DeployRealServerTest {

    private static final Pattern KIND = Pattern.compile("(?m)^kind: ");

    private final RealApiServer real = RealApiServer.shared();

    @Test
    void deploy_wholeFolder_isAcceptedByTheServer() throws IOException {
        List<String> accepted = real.kubectl("apply", "--dry-run=server", "-f", "deploy/")
                .lines()
                .toList();

        assertThat(accepted)
                .contains(
                        "daemonset.apps/podcache-node created (server dry run)",
                        "deployment.apps/podcache-controllers created (server dry run)")
                .allMatch(line -> line.endsWith(" created (server dry run)"))
                .hasSize(manifestsOfTheFolder());
    }

    @Test
    void kustomization_isTheNodeAgents() throws IOException {
        List<String> accepted = real.kubectl("apply", "--dry-run=server", "-k", "deploy")
                .lines()
                .toList();

        assertThat(accepted)
                .contains("daemonset.apps/podcache-node created (server dry run)")
                .hasSize(manifests("rbac-node.yaml") + manifests("daemonset.yaml"));
        assertThat(real.kubectl("kustomize", "deploy")).doesNotContain("controllers");
    }

    @Test
    void examples_inANamespace_areAcceptedByTheServer(@TempDir Path folder) throws IOException {
        String namespace = real.createNamespaceLike("shop");
        for (String example : List.of("example-pod", "rbac-agent", "rbac-bootstrap", "rbac-operator")) {
            String text = Files.readString(Path.of("deploy", "examples", example + ".yaml"))
                    .replace("namespace: shop", "namespace: " + namespace);
            Path file = Files.writeString(folder.resolve(example + ".yaml"), text);

            assertThat(real.kubectl("apply", "--dry-run=server", "-f", file.toString()))
                    .contains(" created (server dry run)");
        }
    }

    private static int manifestsOfTheFolder() throws IOException {
        int count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("deploy"), "*.yaml")) {
            for (Path file : files) {
                count += manifests(file.getFileName().toString());
            }
        }
        return count;
    }

    private static int manifests(String file) throws IOException {
        return (int) KIND.matcher(Files.readString(Path.of("deploy", file)))
                .results()
                .count();
    }
}
