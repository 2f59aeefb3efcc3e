package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.NS;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.PLACEMENT;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.secret;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.Launch.VolumeMountPoint;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class ContainerConfigurationTest {

    private final PodConfigFixture f = new PodConfigFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void launch_expandsCommandAndArguments() {
        Container container = new ContainerBuilder()
                .withName("main")
                .withCommand("/bin/$(TOOL)", "$$(TOOL)", "$(UNKNOWN)")
                .withArgs("--name=$(NAME)", "$(TOOL)$(NAME)", "$x")
                .withWorkingDir("/srv")
                .addNewEnv()
                .withName("TOOL")
                .withValue("serve")
                .endEnv()
                .addNewEnv()
                .withName("NAME")
                .withValue("$(TOOL)-1")
                .endEnv()
                .build();
        Secret pull = secret("registry", Map.of());

        Launch launch = launch(container, List.of(pull), 3);

        assertThat(launch.command()).containsExactly("/bin/serve", "$(TOOL)", "$(UNKNOWN)");
        assertThat(launch.args()).containsExactly("--name=serve-1", "serveserve-1", "$x");
        assertThat(launch.workingDirectory()).isEqualTo("/srv");
        assertThat(launch.environment()).containsEntry("TOOL", "serve").containsEntry("NAME", "serve-1");
        assertThat(launch.pullSecrets()).containsExactly(pull);
        assertThat(launch.restartCount()).isEqualTo(3);
        assertThat(launch.mounts()).isEmpty();
    }

    @Test
    void launch_empty_hasEmptyValues() {
        Launch launch = launch(new ContainerBuilder().withName("main").build(), List.of(), 0);

        assertThat(launch.command()).isEmpty();
        assertThat(launch.args()).isEmpty();
        assertThat(launch.workingDirectory()).isEmpty();
    }

    @Test
    void launch_mounts_areInOrder_andVolumesOfObjectsAreReadOnly() {
        Launch launch = launch(
                with(
                        mount("data", "/data").withSubPath("a/b").build(),
                        mount("cert", "/cert").build(),
                        mount("data", "relative").withReadOnly(true).build()),
                List.of(),
                0);

        assertThat(launch.mounts())
                .containsExactly(
                        new VolumeMountPoint("data", "/data", "a/b", false),
                        new VolumeMountPoint("cert", "/cert", "", true),
                        new VolumeMountPoint("data", "/relative", "", true));
    }

    @Test
    void launch_subPathExpr_isExpanded() {
        Launch launch = launch(
                with(mount("data", "/data")
                        .withSubPathExpr("logs/$(HOST)/$$(HOST)")
                        .build()),
                List.of(),
                0);

        assertThat(launch.mounts())
                .containsExactly(
                        new VolumeMountPoint("data", "/data", "logs/web-1/$(HOST)", false, "logs/$(HOST)/$$(HOST)"));
    }

    /** TestSubpathExpandErrors of upstream's helpers_test.go, and {@code makeMounts}. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            $(ODD)/x/$(ALSO)/$(ODD) | missing value for ALSO, ODD
            $(EMPTY)                | missing value for EMPTY
            $(ABSOLUTE)             | error SubPath `$(ABSOLUTE)` must not be an absolute path
            /a                      | error SubPath `/a` must not be an absolute path
            a/../b                  | unable to provision SubPath `a/../b`: must not contain '..'
            ..                      | unable to provision SubPath `..`: must not contain '..'
            """)
    void launch_subPathThatIsNotAllowed_fails(String subPath, String message) {
        boolean expression = subPath.contains("$");
        VolumeMount mount = mount("data", "/data")
                .withSubPath(expression ? null : subPath)
                .withSubPathExpr(expression ? subPath : null)
                .build();

        assertThatThrownBy(() -> launch(with(mount), List.of(), 0))
                .isInstanceOf(PodConfigException.class)
                .hasMessage(message)
                .satisfies(e -> assertThat(((PodConfigException) e).container()).contains("main"));
    }

    @Test
    void launch_namesWithTwoDots_areAllowed() {
        assertThat(launch(with(mount("data", "/data").withSubPath("a..b/..c").build()), List.of(), 0)
                        .mounts())
                .hasSize(1);
    }

    @Test
    void launch_hasTheHostnameOfThePod() {
        Launch launch = launch(with(mount("data", "/data").build()), List.of(), 0);

        assertThat(launch.hostname()).isEqualTo("name-of-host");
        assertThat(launch.fqdn()).isEqualTo("name-of-host.service." + NS + ".svc.cluster.local");
    }

    @Test
    void launch_mountOfAnUnknownVolume_fails() {
        assertThatThrownBy(() -> launch(with(mount("other", "/x").build()), List.of(), 0))
                .isInstanceOf(PodConfigException.class)
                .hasMessage("cannot find volume \"other\" to mount into container \"main\"");
    }

    private Launch launch(Container container, List<Secret> pullSecrets, int restartCount) {
        Pod pod = new PodBuilder(PodConfigFixture.pod(NS, container))
                .editSpec()
                .withHostname("name-of-host")
                .withSubdomain("service")
                .addNewVolume()
                .withName("data")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .addNewVolume()
                .withName("cert")
                .withNewSecret()
                .withSecretName("cert")
                .endSecret()
                .endVolume()
                .endSpec()
                .build();
        return new ContainerConfiguration(
                        f.secrets, f.configMaps, f.services, "cluster.local", PodConfigFixture.NO_VOLUMES)
                .launch(pod, container, PLACEMENT, pullSecrets, restartCount);
    }

    private static VolumeMountBuilder mount(String volume, String path) {
        return new VolumeMountBuilder().withName(volume).withMountPath(path);
    }

    private static Container with(VolumeMount... mounts) {
        return new ContainerBuilder()
                .withName("main")
                .withVolumeMounts(mounts)
                .addNewEnv()
                .withName("HOST")
                .withValue("web-1")
                .endEnv()
                .addNewEnv()
                .withName("EMPTY")
                .withValue("")
                .endEnv()
                .addNewEnv()
                .withName("ABSOLUTE")
                .withValue("/etc")
                .endEnv()
                .build();
    }
}
