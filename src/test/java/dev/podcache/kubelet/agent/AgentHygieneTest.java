package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pods that take the value of a Secret to every place that a variable reaches, and fail there. Nothing that an agent writes,
 * serves or logs shows it.
 */
@Slow
@EnabledOnOs(OS.LINUX)
@ExtendWith(NoLeaks.class)
class AgentHygieneTest {

    private static final String SECRET = "values";

    /** More than all arguments of a program may have together on Linux. */
    private static final int TOO_LONG = 700_000;

    @TempDir
    Path folder;

    private final List<Pod> pods = new ArrayList<>();

    private void pod(UnaryOperator<ContainerBuilder> changes) {
        PodBuilder pod = Pods.assigned(ServedAgent.NODE, "pod-" + pods.size());
        ContainerBuilder container = new ContainerBuilder(
                        pod.buildSpec().getContainers().get(0))
                .withCommand("sh", "-c", "exit 3")
                .addNewEnv()
                .withName("A")
                .withNewValueFrom()
                .withNewSecretKeyRef("plain", SECRET, false)
                .endValueFrom()
                .endEnv();
        pods.add(pod.editSpec()
                .withContainers(changes.apply(container).build())
                .addNewVolume()
                .withName("data")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .endSpec()
                .build());
    }

    private static UnaryOperator<ContainerBuilder> variable(String key) {
        return container -> container
                .addNewEnv()
                .withName("B")
                .withNewValueFrom()
                .withNewSecretKeyRef(key, SECRET, false)
                .endValueFrom()
                .endEnv();
    }

    private static UnaryOperator<ContainerBuilder> subPath(String expression) {
        return container -> container
                .addNewVolumeMount()
                .withName("data")
                .withMountPath("/data")
                .withSubPathExpr(expression)
                .endVolumeMount();
    }

    private void everyPlace() {
        pod(container -> container);
        pod(container -> container.withCommand("/nope/$(A)"));
        pod(container -> container.withCommand("$(A)").withArgs("$(A)"));
        pod(container -> container.withCommand("sh", "-c", "exit 4", "$(A)"));
        pod(container -> container.withWorkingDir("/$(A)/../../.."));
        pod(container -> variable("too-long").apply(container).withCommand("sh", "-c", "exit 5", "$(B)"));
        pod(variable("nul"));
        pod(variable("binary"));
        pod(subPath("$(A)"));
        pod(subPath("$(A)/../../x"));
        pod(subPath("/$(A)"));
        pod(container -> subPath("$(B)").apply(variable("nul").apply(container)));
        pod(container -> subPath("$(B)").apply(variable("too-long").apply(container)));
        pod(container -> subPath("x/$(B)").apply(variable("binary").apply(container)));
        pod(container -> container
                .withNewLifecycle()
                .withNewPostStart()
                .withNewExec()
                .withCommand("/nope/$(A)")
                .endExec()
                .endPostStart()
                .endLifecycle()
                .withCommand("sleep", "100"));
        pod(container -> container
                .withCommand("sleep", "100")
                .withNewStartupProbe()
                .withNewExec()
                .withCommand("/nope/$(A)")
                .endExec()
                .withFailureThreshold(1)
                .withPeriodSeconds(1)
                .endStartupProbe());
        pod(container -> container
                .addNewEnvFrom()
                .withPrefix("=")
                .withNewSecretRef(SECRET, false)
                .endEnvFrom());
    }

    private static HasMetadata secret() {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(SECRET)
                .endMetadata()
                .addToData("plain", encoded(NoLeaks.CANARY.getBytes(UTF_8)))
                .addToData("nul", encoded((NoLeaks.CANARY + "\0").getBytes(UTF_8)))
                .addToData(
                        "too-long",
                        encoded(NoLeaks.CANARY
                                .repeat(TOO_LONG / NoLeaks.CANARY.length())
                                .getBytes(UTF_8)))
                .addToData("binary", encoded(("\u00ff" + NoLeaks.CANARY).getBytes(ISO_8859_1)))
                .build();
    }

    private static String encoded(byte[] value) {
        return Base64.getEncoder().encodeToString(value);
    }

    @Test
    void secretInEveryPlaceThatAVariableReaches_isShownNowhere(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("pod shop/");
        everyPlace();
        try (ServedAgent served = new ServedAgent(
                folder,
                NodeLeaseOptions.DEFAULT_DURATION,
                agent -> agent.runtime(time -> ProcessRuntime.in(folder.resolve("processes"), time)))) {
            served.cluster.create(secret());
            pods.forEach(served.cluster::create);
            for (Pod pod : pods) {
                await().until(() -> isReported(served, pod));
            }

            for (String path : List.of(
                    "/pods",
                    "/runningpods",
                    "/metrics",
                    "/metrics/resource",
                    "/metrics/cadvisor",
                    "/metrics/probes",
                    "/stats/summary",
                    "/debug/objects",
                    "/configz",
                    "/statusz",
                    "/flagz",
                    "/ui",
                    "/ui/state")) {
                NoLeaks.saw(served.https(path).body());
            }
            pods.forEach(pod ->
                    see(served.cluster.get(Pod.class, "shop", pod.getMetadata().getName())));
            see(served.cluster.get(Node.class, "", ServedAgent.NODE));
            List<? extends HasMetadata> events =
                    served.client.v1().events().inNamespace("shop").list().getItems();
            assertThat(events).hasSizeGreaterThan(pods.size() / 2);
            events.forEach(AgentHygieneTest::see);
        }
    }

    private static void see(HasMetadata object) {
        NoLeaks.saw(Serialization.asJson(object));
    }

    /** Returns whether a container of the pod has run, or has been refused. */
    private static boolean isReported(ServedAgent served, Pod pod) {
        PodStatus status = served.cluster
                .get(Pod.class, "shop", pod.getMetadata().getName())
                .getStatus();
        return status != null && status.getContainerStatuses().stream().anyMatch(AgentHygieneTest::hasHappened);
    }

    private static boolean hasHappened(ContainerStatus container) {
        ContainerState now = container.getState();
        ContainerState last = container.getLastState();
        boolean ran = last != null && last.getTerminated() != null;
        if (now == null) {
            return ran;
        }
        boolean refused = now.getWaiting() != null && now.getWaiting().getMessage() != null;
        return ran || refused || now.getRunning() != null || now.getTerminated() != null;
    }
}
