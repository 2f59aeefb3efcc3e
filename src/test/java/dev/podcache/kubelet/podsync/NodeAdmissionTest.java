package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.runtime.PodIsolation;
import dev.podcache.pod.PodOrigin;
import dev.podcache.testing.NewThread;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodDNSConfigBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The cases of upstream's TestGeneralPredicates, TestRejectPodAdmissionBasedOnOSSelector,
 * TestRejectPodAdmissionBasedOnOSField, TestPodAdmissionBasedOnSupplementalGroupsPolicy and
 * TestRemoveMissingExtendedResources, and some more.
 */
class NodeAdmissionTest {

    private static final String NO_CPU =
            "OutOfcpu: Node didn't have enough resource: cpu, requested: 8, used: 5, capacity: 10";

    private final List<Pod> active = new CopyOnWriteArrayList<>();
    private final List<String> withStatus = new ArrayList<>();
    private @Nullable Node node = node(Map.of("cpu", "10m", "memory", "20", "pods", "32"));
    private @Nullable Node asked;
    private boolean declares;

    private final NodeAdmission admission = new NodeAdmission(
            new NodeAdmission.AskedNode("linux", pod -> Optional.ofNullable(node), pod -> Optional.ofNullable(asked)),
            () -> active,
            withStatus::contains,
            new PodIsolation() {
                @Override
                public boolean userNamespaces() {
                    return declares;
                }

                @Override
                public boolean strictSupplementalGroups() {
                    return declares;
                }

                @Override
                public boolean hostAliases() {
                    return declares;
                }

                @Override
                public boolean dnsConfig() {
                    return declares;
                }
            });

    private static Node node(Map<String, String> allocatable) {
        Map<String, Quantity> quantities = new HashMap<>();
        allocatable.forEach((resource, amount) -> quantities.put(resource, new Quantity(amount)));
        return new NodeBuilder()
                .withNewMetadata()
                .withName("machine1")
                .addToLabels("disk", "ssd")
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .withAllocatable(quantities)
                .endStatus()
                .build();
    }

    private static PodBuilder pod(String name, Map<String, String> requests) {
        Map<String, Quantity> quantities = new HashMap<>();
        requests.forEach((resource, amount) -> quantities.put(resource, new Quantity(amount)));
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid("uid-" + name)
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("main")
                .withNewResources()
                .withRequests(quantities)
                .endResources()
                .endContainer()
                .endSpec();
    }

    private static PodBuilder pod(String name) {
        return pod(name, Map.of());
    }

    /** Adds a pod that runs already. */
    private void runs(PodBuilder pod) {
        Pod built = pod.build();
        active.add(built);
        withStatus.add(built.getMetadata().getUid());
    }

    /** Returns {@code reason: message}, or {@code admitted}. */
    private String ask(PodBuilder pod) {
        Pod built = pod.build();
        active.add(built);
        return text(admission.rejection(built));
    }

    private static String text(Optional<PodRejection> rejection) {
        return rejection.map(each -> each.reason() + ": " + each.message()).orElse("admitted");
    }

    @Test
    void asksForNothing_alwaysFits() {
        runs(pod("other", Map.of("cpu", "9m", "memory", "19")));

        assertThat(ask(pod("web"))).isEqualTo("admitted");
    }

    @Test
    void notEnoughCpuAndMemory_theFirstReasonIsCpu() {
        runs(pod("other", Map.of("cpu", "5m", "memory", "19")));

        assertThat(ask(pod("web", Map.of("cpu", "8m", "memory", "10")))).isEqualTo(NO_CPU);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "Infeasible, 1m, admitted", // the container keeps what it has
                "Deferred,   1m, OutOfcpu",
                "Infeasible, -,  OutOfcpu",
            })
    void resizeOfAnotherPodIsPending(String reason, @Nullable String has, String expected) {
        runs(pod("other", Map.of("cpu", "100"))
                .withNewStatus()
                .addNewCondition()
                .withType("PodResizePending")
                .withStatus("True")
                .withReason(reason)
                .endCondition()
                .addNewContainerStatus()
                .withName("main")
                .withResources(
                        has == null
                                ? null
                                : new ResourceRequirementsBuilder()
                                        .addToRequests("cpu", new Quantity(has))
                                        .build())
                .endContainerStatus()
                .endStatus());

        assertThat(ask(pod("web", Map.of("cpu", "8m")))).startsWith(expected);
    }

    @Test
    void notEnoughMemory() {
        runs(pod("other", Map.of("memory", "19")));

        assertThat(ask(pod("web", Map.of("memory", "10"))))
                .isEqualTo(
                        "OutOfmemory: Node didn't have enough resource: memory, requested: 10, used: 19, capacity: 20");
    }

    @Test
    void tooManyPods() {
        node = node(Map.of("cpu", "10m", "pods", "1"));
        runs(pod("other"));

        assertThat(ask(pod("web")))
                .isEqualTo("OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1");
    }

    @ParameterizedTest
    @CsvSource({
        "ephemeral-storage, OutOfephemeral-storage",
        "hugepages-2Mi,     OutOfhugepages-2Mi",
        "example.com/gpu,   admitted", // a node that does not have the resource does not look after it
    })
    void nodeDoesNotHaveTheResource(String resource, String reason) {
        assertThat(ask(pod("web", Map.of(resource, "1")))).startsWith(reason);
    }

    @Test
    void extendedResourceOfTheNode_isUsedUp() {
        node = node(Map.of("example.com/gpu", "2", "pods", "5"));
        runs(pod("other", Map.of("example.com/gpu", "2")));

        assertThat(ask(pod("web", Map.of("example.com/gpu", "1")))).startsWith("OutOfexample.com/gpu: ");
    }

    @Test
    void anotherNodeIsMeant() {
        assertThat(ask(pod("web").editSpec().withNodeName("machine2").endSpec()))
                .isEqualTo("NodeName: Predicate NodeName failed: node(s) didn't match the requested node name");
    }

    private static PodBuilder withPort(String name, int port, @Nullable String protocol, @Nullable String ip) {
        return pod(name)
                .editSpec()
                .editFirstContainer()
                .addNewPort()
                .withHostPort(port)
                .withProtocol(protocol)
                .withHostIP(ip)
                .endPort()
                .endContainer()
                .endSpec();
    }

    @ParameterizedTest
    @CsvSource({
        "123, TCP, ,          true",
        "124, TCP, ,          false",
        "123, UDP, ,          false",
        "123, TCP, 10.0.0.1,  true",
        "123, ,    '',        true",
    })
    void hostPortIsTaken(int port, @Nullable String protocol, @Nullable String ip, boolean conflicts) {
        runs(withPort("other", 123, "TCP", "0.0.0.0"));

        assertThat(ask(withPort("web", port, protocol, ip)))
                .isEqualTo(
                        conflicts
                                ? "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested"
                                        + " pod ports"
                                : "admitted");
    }

    @Test
    void hostPortOfAnotherAddress_isFree() {
        runs(withPort("other", 123, "TCP", "10.0.0.1"));

        assertThat(ask(withPort("web", 123, "TCP", "10.0.0.2"))).isEqualTo("admitted");
    }

    private void taint(String key, String effect) {
        node = new NodeBuilder(node)
                .editSpec()
                .addNewTaint()
                .withKey(key)
                .withEffect(effect)
                .endTaint()
                .endSpec()
                .build();
    }

    @Test
    void taintsAreTolerated() {
        taint("foo", "NoSchedule");
        taint("bar", "NoExecute");

        assertThat(ask(pod("web")
                        .editSpec()
                        .addNewToleration()
                        .withKey("bar")
                        .endToleration()
                        .endSpec()))
                .isEqualTo("admitted");
    }

    @ParameterizedTest
    @CsvSource({
        "NoSchedule, false, admitted",
        "PreferNoSchedule, false, admitted",
        "NoExecute, false, TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
        "NoExecute, true, admitted", // static pods
    })
    void taintIsNotTolerated(String effect, boolean isStatic, String expected) {
        taint("foo", effect);
        PodBuilder pod = pod("web");
        if (isStatic) {
            pod.editMetadata().addToAnnotations(PodOrigin.SOURCE, "file").endMetadata();
        }

        assertThat(ask(pod)).isEqualTo(expected);
    }

    @Test
    void staticPod_isAdmittedThoughResourcesAreMissing_butNotOnTheWrongNode() {
        runs(pod("other", Map.of("cpu", "9m")));
        PodBuilder agent = pod("agent", Map.of("cpu", "5m"))
                .editMetadata()
                .addToAnnotations(PodOrigin.SOURCE, "file")
                .endMetadata();

        assertThat(ask(agent)).isEqualTo("admitted");
        assertThat(ask(agent.editSpec().addToNodeSelector("disk", "hdd").endSpec()))
                .startsWith("NodeAffinity: ");
    }

    @Test
    void nodeSelector_doesNotMatch() {
        assertThat(ask(pod("web").editSpec().addToNodeSelector("disk", "hdd").endSpec()))
                .isEqualTo(
                        "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector");
    }

    @Test
    void nodeSelector_matchesWhatTheServerSaysNow() {
        asked = new NodeBuilder(node)
                .editMetadata()
                .addToLabels("disk", "hdd")
                .endMetadata()
                .build();

        assertThat(ask(pod("web").editSpec().addToNodeSelector("disk", "hdd").endSpec()))
                .isEqualTo("admitted");
    }

    @ParameterizedTest
    @CsvSource({
        "linux, linux, admitted",
        "dummyOS, , PodOSSelectorNodeLabelDoesNotMatch",
        ", dummyOS, PodOSNotSupported",
        ", , admitted"
    })
    void operatingSystem(@Nullable String label, @Nullable String field, String reason) {
        PodBuilder pod = pod("web");
        if (label != null) {
            pod.editMetadata().addToLabels("kubernetes.io/os", label).endMetadata();
        }
        if (field != null) {
            pod.editSpec().withNewOs(field).endSpec();
        }

        assertThat(ask(pod)).startsWith(reason);
    }

    @ParameterizedTest
    @CsvSource({"Strict, false", "Strict, true", "Merge, false", ", false"})
    void supplementalGroupsPolicy(@Nullable String policy, boolean declared) {
        declares = declared;

        assertThat(ask(pod("web")
                        .editSpec()
                        .withNewSecurityContext()
                        .withSupplementalGroupsPolicy(policy)
                        .endSecurityContext()
                        .endSpec()))
                .isEqualTo(
                        "Strict".equals(policy) && !declared
                                ? "SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in"
                                        + " this node"
                                : "admitted");
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", ", false"})
    void hostUsers(@Nullable Boolean hostUsers, boolean declared) {
        declares = declared;

        assertThat(ask(pod("web").editSpec().withHostUsers(hostUsers).endSpec()))
                .isEqualTo(
                        Boolean.FALSE.equals(hostUsers) && !declared
                                ? "UserNamespacesNotSupported: hostUsers=false is not supported in this node"
                                : "admitted");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void hostAliases(boolean declared) {
        declares = declared;

        assertThat(ask(pod("web")
                        .editSpec()
                        .addNewHostAlias()
                        .withIp("10.0.0.1")
                        .withHostnames("db")
                        .endHostAlias()
                        .endSpec()))
                .isEqualTo(
                        declared ? "admitted" : "HostAliasesNotSupported: hostAliases is not supported in this node");
        assertThat(ask(pod("api").editSpec().withHostAliases().endSpec())).isEqualTo("admitted");
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, ,    ,      false, DNSConfigNotSupported: dnsConfig is not supported in this node",
        ",         a.b, ,      false, DNSConfigNotSupported: dnsConfig is not supported in this node",
        ",         ,    ndots, false, DNSConfigNotSupported: dnsConfig is not supported in this node",
        "10.0.0.1, a.b, ndots, true,  admitted",
        ",         ,    ,      false, admitted", // asks for nothing
    })
    void dnsConfig(
            @Nullable String server,
            @Nullable String search,
            @Nullable String option,
            boolean declared,
            String expected) {
        declares = declared;
        PodDNSConfigBuilder config = new PodDNSConfigBuilder();
        if (server != null) {
            config.addToNameservers(server);
        }
        if (search != null) {
            config.addToSearches(search);
        }
        if (option != null) {
            config.addNewOption(option, "2");
        }

        assertThat(ask(pod("web").editSpec().withDnsConfig(config.build()).endSpec()))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void restartAllContainers_isRefusedByTheNameOfTheFeature(boolean init) {
        Container container = new ContainerBuilder()
                .withName("rules")
                .withRestartPolicy("Never")
                .addNewRestartPolicyRule()
                .withAction("RestartAllContainers")
                .endRestartPolicyRule()
                .build();
        PodBuilder pod = pod("web");

        assertThat(ask(
                        init
                                ? pod.editSpec().addToInitContainers(container).endSpec()
                                : pod.editSpec().addToContainers(container).endSpec()))
                .isEqualTo("PodFeatureUnsupported: Pod requires node features that are not available:"
                        + " RestartAllContainersOnContainerExits");
    }

    @Test
    void nodeIsNotKnown_whatTheRuntimeDoesNotGiveIsRefusedAllTheSame() {
        node = null;

        assertThat(ask(pod("web").editSpec().withHostUsers(false).endSpec()))
                .startsWith("UserNamespacesNotSupported: ");
        assertThat(ask(pod("db").editSpec().withNewOs("windows").endSpec())).startsWith("PodOSNotSupported: ");
    }

    @Test
    void nodeIsNotKnown_orHasNoStatus_allAreAdmitted() {
        node = node(Map.of());
        assertThat(ask(pod("web", Map.of("cpu", "8")))).isEqualTo("admitted");

        node = null;
        assertThat(ask(pod("db", Map.of("cpu", "8")))).isEqualTo("admitted");
    }

    @Test
    void others_countOnlyIfTheyWereAdmitted_andHaveNotEnded() {
        Map<String, String> eight = Map.of("cpu", "8m");
        active.add(pod("not-yet", eight).build());
        assertThat(ask(pod("first", eight))).isEqualTo("admitted");
        assertThat(ask(pod("second", eight))).startsWith("OutOfcpu");
        active.removeIf(each -> each.getMetadata().getName().equals("first"));
        assertThat(ask(pod("third", eight))).isEqualTo("admitted");

        active.clear();
        active.add(pod("of-an-agent-before", eight)
                .withNewStatus()
                .withStartTime("2026-01-01T00:00:00Z")
                .endStatus()
                .build());
        assertThat(ask(pod("fourth", eight))).startsWith("OutOfcpu");
    }

    @Test
    void manyAtOnce_onlyAsManyAsFitAreAdmitted() {
        node = node(Map.of("cpu", "10m", "pods", "5"));
        List<Pod> pods = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            pods.add(pod("web-" + i).build());
        }
        active.addAll(pods);
        AtomicInteger fits = new AtomicInteger();

        CompletableFuture.allOf(pods.stream()
                        .map(each -> CompletableFuture.runAsync(
                                () -> fits.addAndGet(admission.rejection(each).isEmpty() ? 1 : 0), NewThread.EACH))
                        .toArray(CompletableFuture[]::new))
                .join();

        assertThat(fits.get()).isEqualTo(5);
    }
}
