package dev.podcache.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.podcache.cli.output.CapturedConsole;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The workloads of {@code deploy/}: that they start the program with options it knows, and without privileges. */
class WorkloadManifestsTest {

    private static final List<HasMetadata> NODE = read("daemonset.yaml");
    private static final DaemonSet AGENTS = one(NODE, DaemonSet.class);
    private static final Deployment CONTROLLERS = one(read("controllers-deployment.yaml"), Deployment.class);

    @TempDir
    private Path home;

    static List<PodTemplateSpec> templates() {
        return List.of(AGENTS.getSpec().getTemplate(), CONTROLLERS.getSpec().getTemplate());
    }

    @ParameterizedTest
    @MethodSource("templates")
    void arguments_areThoseOfTheProgram(PodTemplateSpec template) {
        String[] arguments = container(template).getArgs().stream()
                .map(argument -> argument.replace("$(NODE_NAME)", "worker-1").replace("$(POD_IP)", "10.1.2.3"))
                .toArray(String[]::new);

        assertThat(arguments).noneMatch(argument -> argument.contains("$("));
        assertThatCode(() -> Arguments.requireAccepted(arguments)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @MethodSource("templates")
    void container_hasNoPrivileges_andAReadOnlyRoot(PodTemplateSpec template) {
        PodSpec pod = template.getSpec();
        Container container = container(template);

        assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
        assertThat(pod.getSecurityContext().getRunAsUser()).isEqualTo(65532);
        assertThat(pod.getSecurityContext().getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
        assertThat(pod.getHostNetwork()).isNull();
        assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
        assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
        assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(pod.getVolumes()).extracting(Volume::getHostPath).containsOnlyNulls();
    }

    @ParameterizedTest
    @MethodSource("templates")
    void container_hasItsVolumes_andALimitOfMemory(PodTemplateSpec template) {
        assertThat(container(template).getVolumeMounts())
                .extracting(VolumeMount::getName)
                .containsExactlyElementsOf(template.getSpec().getVolumes().stream()
                        .map(Volume::getName)
                        .toList());
        assertThat(container(template).getVolumeMounts())
                .extracting(VolumeMount::getMountPath)
                .contains("/tmp");
        assertThat(container(template).getResources().getLimits()).containsOnlyKeys("memory");
        assertThat(container(template).getResources().getRequests()).containsOnlyKeys("cpu", "memory");
    }

    @Test
    void templates_haveTheLabelsOfTheirSelectors() {
        assertThat(AGENTS.getSpec().getTemplate().getMetadata().getLabels())
                .isEqualTo(AGENTS.getSpec().getSelector().getMatchLabels());
        assertThat(CONTROLLERS.getSpec().getTemplate().getMetadata().getLabels())
                .isEqualTo(CONTROLLERS.getSpec().getSelector().getMatchLabels());
    }

    /** Two agents of one node would overwrite each other's reports. */
    @Test
    void agents_areReplacedOneAfterTheOther_andOnlyOnNodesThatWereChosen() {
        assertThat(AGENTS.getSpec()
                        .getUpdateStrategy()
                        .getRollingUpdate()
                        .getMaxUnavailable()
                        .getValue())
                .isEqualTo(1);
        assertThat(AGENTS.getSpec().getUpdateStrategy().getRollingUpdate().getMaxSurge())
                .isNull();
        assertThat(AGENTS.getSpec().getTemplate().getSpec().getNodeSelector()).containsKey("podcache.dev/host");
    }

    /** Beside a kube-controller-manager with the same controllers they would do harm. */
    @Test
    void controllers_doNotStartByAccident() {
        assertThat(CONTROLLERS.getSpec().getReplicas()).isZero();
    }

    @Test
    void agents_configuration_isValid() throws IOException {
        ConfigMap configuration = one(NODE, ConfigMap.class);

        assertThat(configuration.getData()).containsOnlyKeys("bootstrap.kubeconfig", "kubelet.yaml");
        Path file = Files.writeString(
                home.resolve("kubelet.yaml"), configuration.getData().get("kubelet.yaml"));
        CapturedConsole console = new CapturedConsole(home);

        assertThat(console.execute("config", "validate", "-f", file.toString()))
                .as("%s", console.err())
                .isZero();
    }

    @Test
    void images_areOneVersion_withoutARegistry() {
        assertThat(templates().stream().map(template -> container(template).getImage()))
                .containsOnly("podcache:" + version());
    }

    private static String version() {
        String pom = text(Path.of("pom.xml"));
        return pom.substring(pom.indexOf("<version>") + "<version>".length(), pom.indexOf("</version>"));
    }

    private static Container container(PodTemplateSpec template) {
        assertThat(template.getSpec().getContainers()).hasSize(1);
        return template.getSpec().getContainers().get(0);
    }

    private static <T extends HasMetadata> T one(List<HasMetadata> manifests, Class<T> type) {
        List<T> found =
                manifests.stream().filter(type::isInstance).map(type::cast).toList();
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    private static List<HasMetadata> read(String file) {
        Object read = new KubernetesSerialization().unmarshal(text(Path.of("deploy", file)));
        return read instanceof HasMetadata single
                ? List.of(single)
                : ((List<?>) read).stream().map(HasMetadata.class::cast).toList();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
