package dev.podcache.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Subject;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The manifests of {@code deploy/}: that they are well-formed, fit together, and allow what is needed and no more. */
class DeployManifestsTest {

    private static final List<HasMetadata> AGENT = read("examples/rbac-agent.yaml");
    private static final List<HasMetadata> CONTROLLERS = read("rbac-controllers.yaml");
    private static final List<HasMetadata> OPERATOR = read("examples/rbac-operator.yaml");

    @ParameterizedTest
    @CsvSource({
        "'', nodes, '', create",
        "'', nodes, worker-1, get list watch patch update",
        "'', nodes/status, worker-1, get list watch patch update",
        "'', services, '', list watch",
        "'', pods, '', get list watch create delete",
        "'', pods/status, '', patch update",
        "'', events, '', create patch"
    })
    void agent_resource_mayBeUsedSo(String group, String resource, String name, String verbs) {
        assertThat(one(AGENT, ClusterRole.class).getRules())
                .anySatisfy(rule -> requireRule(rule, group + "|" + resource + "|" + name + "|" + verbs));
    }

    @Test
    void agent_leases_areThoseOfTheNode() {
        Role lease = one(AGENT, Role.class);

        assertThat(lease.getMetadata().getNamespace()).isEqualTo("kube-node-lease");
        assertThat(lease.getRules())
                .satisfiesExactly(
                        rule -> requireRule(rule, "coordination.k8s.io|leases||create"),
                        rule -> requireRule(rule, "coordination.k8s.io|leases|worker-1|get update patch"));
    }

    @Test
    void agent_secretsAndConfigMapsOfTheWholeCluster_areNotAllowed() {
        assertThat(one(AGENT, ClusterRole.class).getRules())
                .allSatisfy(rule -> assertThat(rule.getResources()).doesNotContain("secrets", "configmaps", "*"));
    }

    @Test
    void agent_bothBindings_giveTheRolesToItsServiceAccount() {
        ServiceAccount account = one(AGENT, ServiceAccount.class);
        ClusterRoleBinding cluster = one(AGENT, ClusterRoleBinding.class);
        RoleBinding lease = one(AGENT, RoleBinding.class);

        assertThat(cluster.getRoleRef().getName())
                .isEqualTo(one(AGENT, ClusterRole.class).getMetadata().getName());
        assertThat(lease.getRoleRef().getName())
                .isEqualTo(one(AGENT, Role.class).getMetadata().getName());
        assertThat(lease.getMetadata().getNamespace()).isEqualTo("kube-node-lease");
        assertThat(cluster.getSubjects()).singleElement().satisfies(subject -> requireSubject(subject, account));
        assertThat(lease.getSubjects()).singleElement().satisfies(subject -> requireSubject(subject, account));
    }

    @Test
    void controllers_mayDoWhatTheyNeed_andNoMore() {
        assertThat(one(CONTROLLERS, ClusterRole.class).getRules())
                .satisfiesExactly(
                        rule -> requireRule(rule, "|nodes||get list watch patch"),
                        rule -> requireRule(rule, "|nodes/status||patch"),
                        rule -> requireRule(rule, "|pods||list watch delete"),
                        rule -> requireRule(rule, "|pods/status||patch"),
                        rule -> requireRule(rule, "|events||create patch"));
        assertThat(CONTROLLERS.stream().filter(Role.class::isInstance).map(Role.class::cast))
                .satisfiesExactly(
                        heartbeats -> {
                            assertThat(heartbeats.getMetadata().getNamespace()).isEqualTo("kube-node-lease");
                            assertThat(heartbeats.getRules())
                                    .satisfiesExactly(
                                            rule -> requireRule(rule, "coordination.k8s.io|leases||get list watch"));
                        },
                        election -> {
                            assertThat(election.getMetadata().getNamespace()).isEqualTo("kube-system");
                            assertThat(election.getRules())
                                    .satisfiesExactly(
                                            rule -> requireRule(rule, "coordination.k8s.io|leases||create"),
                                            rule -> requireRule(
                                                    rule,
                                                    "coordination.k8s.io|leases|podcache-controllers|get update"));
                        });
    }

    @Test
    void controllers_bindings_giveTheRolesToTheServiceAccount() {
        ServiceAccount account = one(CONTROLLERS, ServiceAccount.class);

        assertThat(one(CONTROLLERS, ClusterRoleBinding.class).getSubjects())
                .singleElement()
                .satisfies(subject -> requireSubject(subject, account));
        assertThat(CONTROLLERS.stream().filter(RoleBinding.class::isInstance).map(RoleBinding.class::cast))
                .hasSize(2)
                .allSatisfy(binding -> {
                    assertThat(binding.getRoleRef().getName()).isEqualTo("podcache-controllers");
                    assertThat(binding.getSubjects())
                            .singleElement()
                            .satisfies(subject -> requireSubject(subject, account));
                });
    }

    @Test
    void bootstrap_bindings_areThoseOfNewNodesAndOfNodes() {
        assertThat(read("examples/rbac-bootstrap.yaml"))
                .allSatisfy(object -> assertThat(object).isInstanceOf(ClusterRoleBinding.class))
                .map(ClusterRoleBinding.class::cast)
                .extracting(binding -> binding.getRoleRef().getName() + " to "
                        + binding.getSubjects().get(0).getName())
                .containsExactly(
                        "system:node-bootstrapper to system:bootstrappers",
                        "system:certificates.k8s.io:certificatesigningrequests:nodeclient to system:bootstrappers",
                        "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient to system:nodes");
    }

    @Test
    void operator_role_isTwoObjectsByName() {
        assertThat(one(OPERATOR, Role.class).getRules())
                .satisfiesExactly(
                        rule -> requireRule(rule, "|secrets|db-password|get list watch"),
                        rule -> requireRule(rule, "|configmaps|settings|get list watch"));
        assertThat(OPERATOR).noneMatch(ClusterRole.class::isInstance);
    }

    @Test
    void operator_binding_isOfTheRoleInItsNamespace() {
        Role role = one(OPERATOR, Role.class);
        RoleBinding binding = one(OPERATOR, RoleBinding.class);

        assertThat(binding.getRoleRef().getName()).isEqualTo(role.getMetadata().getName());
        assertThat(binding.getMetadata().getNamespace())
                .isEqualTo(role.getMetadata().getNamespace());
    }

    /** The commands of docs/getting-started.md create that Secret, and a node of that name. */
    @Test
    void examplePod_waitsForASecret_onTheNodeOfTheDocumentation() {
        Pod pod = new KubernetesSerialization().unmarshal(text("examples/example-pod.yaml"), Pod.class);

        assertThat(pod.getSpec().getNodeName()).isEqualTo("hollow-1");
        assertThat(PodReferences.secretKeys(pod)).containsExactly(ObjectKey.of("shop", "db"));
        assertThat(PodReferences.configMapKeys(pod)).isEmpty();
    }

    private static void requireRule(PolicyRule rule, String expected) {
        String name =
                rule.getResourceNames().isEmpty() ? "" : rule.getResourceNames().get(0);
        assertThat(rule.getResourceNames()).hasSizeLessThan(2);
        assertThat(rule.getResources())
                .map(resource -> rule.getApiGroups().get(0) + "|" + resource + "|" + name + "|"
                        + String.join(" ", rule.getVerbs()))
                .contains(expected);
    }

    private static void requireSubject(Subject subject, ServiceAccount account) {
        assertThat(subject.getName()).isEqualTo(account.getMetadata().getName());
        assertThat(subject.getNamespace()).isEqualTo(account.getMetadata().getNamespace());
    }

    private static <T extends HasMetadata> T one(List<HasMetadata> manifests, Class<T> type) {
        return manifests.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .reduce((first, second) -> {
                    throw new IllegalStateException("two of " + type);
                })
                .orElseThrow();
    }

    private static List<HasMetadata> read(String file) {
        return List.copyOf(new KubernetesSerialization().<List<HasMetadata>>unmarshal(text(file)));
    }

    private static String text(String file) {
        try {
            return Files.readString(Path.of("deploy", file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
