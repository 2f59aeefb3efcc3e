package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.FixedHost;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.ReplicaSet;
import io.fabric8.kubernetes.api.model.apps.ReplicaSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A Deployment whose pods have the security context that the Pod Security Standard "restricted" demands, on a hollow node. No
 * controller runs beside the API server, so the test does what those of Deployments and ReplicaSets do, with {@code maxSurge: 1}
 * and {@code maxUnavailable: 0}.
 */
@NullUnmarked
@ExtendWith(NoLeaks.class)
@Needs(ServerFeature.SERVICES)
abstract class RestrictedRolloutContract {

    private static final int REPLICAS = 3;
    private static final Map<String, String> LABELS = Map.of("app", "web");

    private NodeAgent agent;

    /** Returns a client that may do everything. */
    protected abstract KubernetesClient admin();

    /** Returns a client with the identity of the node. */
    protected abstract KubernetesClient ofNode();

    protected abstract String node();

    /** Returns a namespace in which the API server admits restricted pods only, if it can. */
    protected abstract String restricted();

    /** Returns a namespace for pods of any kind. */
    protected abstract String privileged();

    private void startNode() {
        agent = NodeAgent.builder(ofNode())
                .node(node())
                .facts(new FixedHost())
                .withoutServer()
                .build();
        agent.start();
    }

    @AfterEach
    void stopNode() {
        if (agent != null) {
            agent.close();
        }
    }

    private static PodTemplateSpec template(String image) {
        return new PodTemplateSpecBuilder()
                .withNewMetadata()
                .withLabels(LABELS)
                .endMetadata()
                .withNewSpec()
                .withTerminationGracePeriodSeconds(30L)
                // a stand-in sets no defaults
                .withRestartPolicy("Always")
                .withEnableServiceLinks(false)
                .withAutomountServiceAccountToken(false)
                .addNewToleration()
                .withKey("podcache.dev/hollow")
                .withOperator("Exists")
                .endToleration()
                .withNewSecurityContext()
                .withRunAsNonRoot(true)
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .endSecurityContext()
                .addNewContainer()
                .withName("main")
                .withImage(image)
                .withNewSecurityContext()
                .withAllowPrivilegeEscalation(false)
                .withNewCapabilities()
                .withDrop("ALL")
                .endCapabilities()
                .endSecurityContext()
                .endContainer()
                .endSpec()
                .build();
    }

    private Deployment createDeployment(PodTemplateSpec template) {
        return create(new DeploymentBuilder()
                .withNewMetadata()
                .withNamespace(restricted())
                .withName("web")
                .endMetadata()
                .withNewSpec()
                .withReplicas(REPLICAS)
                .withNewSelector()
                .withMatchLabels(LABELS)
                .endSelector()
                .withNewStrategy()
                .withType("RollingUpdate")
                .withNewRollingUpdate()
                .withNewMaxSurge(1)
                .withNewMaxUnavailable(0)
                .endRollingUpdate()
                .endStrategy()
                .withTemplate(template)
                .endSpec()
                .build());
    }

    private ReplicaSet createReplicaSet(Deployment deployment, String hash, PodTemplateSpec template) {
        Map<String, String> labels = Map.of("app", "web", "pod-template-hash", hash);
        return create(new ReplicaSetBuilder()
                .withNewMetadata()
                .withNamespace(restricted())
                .withName("web-" + hash)
                .withLabels(labels)
                .withOwnerReferences(controlledBy(deployment))
                .endMetadata()
                .withNewSpec()
                .withReplicas(REPLICAS)
                .withNewSelector()
                .withMatchLabels(labels)
                .endSelector()
                .withTemplate(new PodTemplateSpecBuilder(template)
                        .editMetadata()
                        .withLabels(labels)
                        .endMetadata()
                        .build())
                .endSpec()
                .build());
    }

    private static OwnerReference controlledBy(HasMetadata owner) {
        return new OwnerReferenceBuilder()
                .withApiVersion(owner.getApiVersion())
                .withKind(owner.getKind())
                .withName(owner.getMetadata().getName())
                .withUid(owner.getMetadata().getUid())
                .withController(true)
                .withBlockOwnerDeletion(true)
                .build();
    }

    /** Creates a pod as the controller of ReplicaSets does, and binds it as the scheduler does. */
    private Pod createPod(ReplicaSet owner) {
        PodTemplateSpec template = owner.getSpec().getTemplate();
        return create(new PodBuilder()
                .withNewMetadata()
                .withNamespace(restricted())
                .withGenerateName(owner.getMetadata().getName() + "-")
                .withLabels(template.getMetadata().getLabels())
                .withOwnerReferences(controlledBy(owner))
                .endMetadata()
                .withNewSpecLike(template.getSpec())
                .withNodeName(node())
                .endSpec()
                .build());
    }

    private <T extends HasMetadata> T create(T object) {
        return admin().resource(object).create();
    }

    private List<Pod> pods() {
        return admin().pods()
                .inNamespace(restricted())
                .withLabels(LABELS)
                .list()
                .getItems();
    }

    private long ready() {
        return pods().stream().filter(RestrictedRolloutContract::isReady).count();
    }

    private static boolean isReady(Pod pod) {
        return pod.getMetadata().getDeletionTimestamp() == null
                && pod.getStatus() != null
                && pod.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Ready")
                                && condition.getStatus().equals("True"));
    }

    private void awaitReady(Pod created) {
        await().until(() -> isReady(read(created)));
    }

    private Pod read(Pod pod) {
        return admin().pods()
                .inNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getMetadata().getName())
                .get();
    }

    @Test
    void rollout_ofRestrictedPods_replacesThemOneByOneWithoutALossOfReadiness() {
        startNode();
        PodTemplateSpec first = template("registry.example/web:1");
        PodTemplateSpec second = template("registry.example/web:2");
        Deployment deployment = createDeployment(first);
        ReplicaSet before = createReplicaSet(deployment, "aaaaa", first);
        ReplicaSet after = createReplicaSet(deployment, "bbbbb", second);
        Deque<Pod> old = new ArrayDeque<>();
        for (int i = 0; i < REPLICAS; i++) {
            old.add(createPod(before));
        }
        old.forEach(this::awaitReady);

        List<String> replaced = new ArrayList<>();
        while (!old.isEmpty()) {
            Pod surge = createPod(after);
            awaitReady(surge);
            assertThat(ready()).as("with one more").isEqualTo(REPLICAS + 1);

            Pod gone = old.remove();
            admin().resource(gone).delete();
            await().until(() -> read(gone) == null);

            assertThat(ready()).as("after %s", gone.getMetadata().getName()).isEqualTo(REPLICAS);
            replaced.add(gone.getMetadata().getUid());
        }

        assertThat(pods()).hasSize(REPLICAS).allSatisfy(pod -> {
            assertThat(pod.getMetadata().getUid()).isNotIn(replaced);
            assertThat(pod.getMetadata().getName()).startsWith("web-bbbbb-");
            assertThat(pod.getStatus().getPhase()).isEqualTo("Running");
            assertThat(pod.getStatus().getContainerStatuses()).singleElement().satisfies(status -> {
                assertThat(status.getImage()).isEqualTo("registry.example/web:2");
                assertThat(status.getReady()).isTrue();
                assertThat(status.getRestartCount()).isZero();
            });
        });
    }

    /** The words of {@code verifyRunAsNonRoot} in upstream's {@code pkg/kubelet/kuberuntime/security_context_others.go}. */
    @Test
    void container_wouldRunAsRoot_waitsInUpstreamsWords_andCanBeDeleted() {
        startNode();
        Pod root = create(new PodBuilder()
                .withNewMetadata()
                .withNamespace(privileged())
                .withName("root")
                .endMetadata()
                .withNewSpecLike(template("registry.example/web:1").getSpec())
                .withNodeName(node())
                .editFirstContainer()
                .editSecurityContext()
                .withRunAsUser(0L)
                .endSecurityContext()
                .endContainer()
                .endSpec()
                .build());

        await().until(() -> "CreateContainerConfigError".equals(waiting(root).getReason()));

        String words = "container's runAsUser breaks non-root policy (pod: \"root_" + privileged() + "("
                + root.getMetadata().getUid() + ")\", container: main)";
        assertThat(waiting(root).getMessage()).isEqualTo(words);
        assertThat(read(root).getStatus().getPhase()).isEqualTo("Pending");
        await().until(() -> events(root).stream()
                .anyMatch(event -> event.getType().equals("Warning")
                        && event.getReason().equals("Failed")
                        && event.getMessage().equals("Error: " + words)));
        admin().resource(root).delete();
        await().until(() -> read(root) == null);
    }

    private ContainerStateWaiting waiting(Pod pod) {
        List<ContainerStatus> statuses = read(pod).getStatus().getContainerStatuses();
        return statuses.isEmpty() || statuses.get(0).getState().getWaiting() == null
                ? new ContainerStateWaiting()
                : statuses.get(0).getState().getWaiting();
    }

    private List<Event> events(Pod pod) {
        return admin().v1().events().inNamespace(privileged()).list().getItems().stream()
                .filter(event -> pod.getMetadata()
                        .getUid()
                        .equals(event.getInvolvedObject().getUid()))
                .toList();
    }
}
