package dev.podcache.kubelet.agent;

import com.google.common.io.Closer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.agent.FeatureCheck.FeatureResult;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.podconfig.Removal;
import dev.podcache.kubelet.runtime.ImagePullException;
import dev.podcache.object.PodKey;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.TestCertificates;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerRestartRuleBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.HostAlias;
import io.fabric8.kubernetes.api.model.LifecycleBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodDNSConfigBuilder;
import io.fabric8.kubernetes.api.model.PodOSBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Drives the features of today's Kubernetes on any server: starts an agent as a node of its own, which runs containers as
 * processes of this Linux machine, has it run one pod for each feature, and says what is seen of each. What it creates is in
 * one namespace or has its name, and is deleted by {@link #close}. On the server it does what an administrator may do.
 *
 * <p>A feature is one row of {@link #checks}: its name and the field that the server must keep, the pod, and what is to be seen.
 * A new feature is a new row.
 */
final class FeatureChecks implements AutoCloseable {

    private static final ContainerStatus NOT_REPORTED = new ContainerStatusBuilder()
            .withRestartCount(0)
            .withNewState()
            .endState()
            .build();
    private static final String ENDLESS = "exec sleep 600";
    private static final String SIGNER = "podcache.dev/features";
    private static final String TRUSTING =
            "cmp trust/named.pem trust/signed.pem && head -n 1 trust/signed.pem >dev/termination-log";
    private static final String PULLED = "pulled";
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final String name = "features-" + UUID.randomUUID().toString().substring(0, 8);
    private final String token = UUID.randomUUID().toString();
    private final Duration longest;
    private final TestCertificates certificates = new TestCertificates();
    private final Path folder = Files.createTempDirectory("podcache-features");
    private final KubernetesClient admin;
    private final Fabric8ApiServer server;
    private final NodeAgent agent;
    private final Set<String> pulled = new HashSet<>(); // used by the sync of one pod
    private final Set<String> acted = new HashSet<>();
    private @Nullable GenericKubernetesResource bundles; // what was created; null if the server has none

    /**
     * Starts the agent.
     *
     * @param config of an administrator
     * @param longest how long to wait for the node, and for each feature
     */
    FeatureChecks(Config config, Duration longest) throws IOException, GeneralSecurityException {
        this.longest = longest;
        config.setRequestRetryBackoffLimit(0);
        admin = new KubernetesClientBuilder().withConfig(config).build();
        server = Fabric8ApiServer.of(admin);
        Path certificate = Files.writeString(folder.resolve("server.crt"), certificates.serverPem());
        Path key = Files.writeString(folder.resolve("server.key"), certificates.privateKeyPem());
        agent = new NodeAgentBuilder(this::agentServer)
                .node(name)
                .runtime(time -> PulledImages.on(runtime(time), (pod, container, secrets) -> pull(container)))
                .capacity(Map.of("cpu", new Quantity("4"), "memory", new Quantity("8Gi")))
                // not of this machine's disks, which the features do not depend on
                .eviction(EvictionOptions.defaults().withHard(EvictionThresholds.parse(Map.of())))
                .admission(this::onlyOurs)
                .maxContainerRestartPeriod(Duration.ofSeconds(1))
                .server(options -> options.address("127.0.0.1")
                        .port(0)
                        .certificate(certificate, key)
                        .reviews(new ServedAgent.OneToken(token)))
                .build();
    }

    private AgentServer agentServer(NodeAgentOptions options) {
        AgentServer connected = new Fabric8AgentServer(server, false, options);
        try {
            admin.services().inNamespace("default").list();
            return connected;
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND) {
                throw e;
            }
            return new WithoutServices(connected);
        }
    }

    private ProcessRuntime runtime(Timekeeper time) {
        return ProcessRuntime.in(folder.resolve("runtime"), time);
    }

    /** Other pods, such as those of DaemonSets, are not to run on this machine. */
    private Optional<PodRejection> onlyOurs(Pod pod) {
        return name.equals(pod.getMetadata().getNamespace())
                ? Optional.empty()
                : Optional.of(new PodRejection("OnlyFeatures", "this node runs only the pods of " + name));
    }

    /** The registry of one image fails once. */
    private void pull(Container container) throws ImagePullException {
        if (container.getName().equals(PULLED) && pulled.add(container.getName())) {
            throw new ImagePullException("the registry is away");
        }
    }

    /** Runs all checks, and gives {@code results} the result of each as soon as it is known. */
    void run(Consumer<FeatureResult> results) throws GeneralSecurityException {
        createIfServed(new NamespaceBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .build());
        // in a cluster without controllers
        createIfServed(new ServiceAccountBuilder()
                .withNewMetadata()
                .withNamespace(name)
                .withName("default")
                .endMetadata()
                .build());
        createBundle();
        agent.start();
        Awaitility.await().atMost(longest).until(this::isReady);
        List<FeatureCheck> pending = new ArrayList<>();
        for (FeatureCheck check : checks()) {
            FeatureResult early = check.create(admin);
            if (early == null) {
                pending.add(check);
            } else {
                results.accept(early);
            }
        }
        pending.forEach(check -> results.accept(check.await(admin, longest)));
    }

    private void createIfServed(HasMetadata object) {
        try {
            admin.resource(object).create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND && e.getCode() != CONFLICT) {
                throw e;
            }
        }
    }

    private boolean isReady() {
        Node node = admin.nodes().withName(name).get();
        return node != null
                && node.getStatus() != null
                && node.getStatus().getConditions().stream()
                        .anyMatch(condition ->
                                condition.getType().equals("Ready") && "True".equals(condition.getStatus()));
    }

    /** The features. A server that does not keep the field of one does not have it. */
    private List<FeatureCheck> checks() {
        return List.of(
                check("K1", "restart rules", "/spec/containers/0/restartPolicyRules")
                        .on(rules("Restart", "[ -e shared/again ] || { >shared/again; exit 42; }"))
                        .shows(pod ->
                                isIn(pod, "Succeeded") && restarts(pod) == 1 ? "restarted for its exit code" : null),
                check("K1", "RestartAllContainers, refused", "/spec/containers/0/restartPolicyRules")
                        .on(rules("RestartAllContainers", ENDLESS))
                        .shows(pod -> refused(pod, "PodFeatureUnsupported")),
                check("K2", "image pull", "")
                        .on(pod(ENDLESS, spec -> main(spec).setName(PULLED)))
                        .shows(pod -> isIn(pod, "Running") ? event(pod, "Pulled") : null),
                check("K3", "events", "")
                        .on(pod(ENDLESS, spec -> {}))
                        .shows(pod -> event(pod, "Created") == null ? null : event(pod, "Started")),
                check("K4", "resize", "")
                        .on(pod(ENDLESS, spec -> main(spec).setResources(cpu("1"))))
                        .shows(pod -> isIn(pod, "Running") && resized(pod) ? condition(pod, "PodResizePending") : null),
                check("K5", "admission", "")
                        .on(pod(ENDLESS, spec -> main(spec).setResources(cpu("10000"))))
                        .shows(pod -> refused(pod, "OutOfcpu")),
                check("K6", "hostUsers, refused", "/spec/hostUsers")
                        .on(pod(ENDLESS, spec -> spec.setHostUsers(false)))
                        .shows(pod -> refused(pod, "UserNamespacesNotSupported")),
                check("K6", "supplementalGroupsPolicy, refused", "/spec/securityContext/supplementalGroupsPolicy")
                        .on(pod(ENDLESS, spec -> security(spec).setSupplementalGroupsPolicy("Strict")))
                        .shows(pod -> refused(pod, "SupplementalGroupsPolicyNotSupported")),
                check("K6", "recursiveReadOnly, refused", "/spec/containers/0/volumeMounts/0/recursiveReadOnly")
                        .on(pod(ENDLESS, FeatureChecks::readOnlyBelow))
                        .shows(pod -> waiting(pod, "CreateContainerConfigError", "recursive read-only")),
                check("K6", "runAsNonRoot", "")
                        .on(pod(ENDLESS, FeatureChecks::rootThatIsNone))
                        .shows(pod -> waiting(pod, "CreateContainerConfigError", "breaks non-root policy")),
                check("K7", "PodReadyToStartContainers", "")
                        .on(pod(ENDLESS, spec -> spec.setHostNetwork(true)))
                        .shows(pod -> isIn(pod, "Running") ? trueSince(pod, "PodReadyToStartContainers") : null),
                check("K8", "fileKeyRef", "/spec/containers/0/env/0/valueFrom/fileKeyRef")
                        .on(pod("printf \"$GREETING\" >dev/termination-log", FeatureChecks::greeted))
                        .shows(pod -> isIn(pod, "Succeeded") && "hello".equals(message(pod)) ? message(pod) : null),
                check("K9", "clusterTrustBundle", "/spec/volumes/1/projected/sources/1/clusterTrustBundle")
                        .on(pod(TRUSTING, FeatureChecks::trusting))
                        .shows(pod -> hasBundles() && isIn(pod, "Succeeded") ? message(pod) : null),
                check("K10", "hostname", "")
                        .on(pod("printf \"$HOSTNAME\" >dev/termination-log", FeatureChecks::named))
                        .shows(pod -> isIn(pod, "Succeeded") && "shown".equals(message(pod)) ? message(pod) : null),
                check("K11", "maxContainerRestartPeriod", "")
                        .on(pod("exit 1", spec -> {}))
                        .shows(pod -> restarts(pod) >= 3 ? waiting(pod, "CrashLoopBackOff", "back-off 1s") : null),
                check("K12", "metrics of containers", "")
                        .on(pod(ENDLESS, spec -> {}))
                        .shows(this::measured),
                check("K13", "termination message", "")
                        .on(pod("printf done >dev/termination-log", spec -> spec.setRestartPolicy("Never")))
                        .shows(pod -> isIn(pod, "Succeeded") ? message(pod) : null),
                check("K14", "version of the node", "")
                        .on(pod(ENDLESS, spec -> {}))
                        .shows(pod -> version()),
                check("K15", "ephemeral container", "")
                        .on(pod(ENDLESS, spec -> {}))
                        .shows(pod -> isIn(pod, "Running") && debugged(pod) ? ephemeral(pod) : null),
                check("-", "hostAliases, refused", "")
                        .on(pod(
                                ENDLESS,
                                spec -> spec.setHostAliases(List.of(new HostAlias(List.of("db"), "10.0.0.1")))))
                        .shows(pod -> refused(pod, "HostAliasesNotSupported")),
                check("-", "dnsConfig, refused", "")
                        .on(pod(ENDLESS, FeatureChecks::resolvedElsewhere))
                        .shows(pod -> refused(pod, "DNSConfigNotSupported")),
                check("-", "stopSignal, refused", "/spec/containers/0/lifecycle/stopSignal")
                        .on(pod(ENDLESS, FeatureChecks::stoppedByUser1))
                        .shows(pod -> waiting(pod, "CreateContainerConfigError", "stopSignal \"SIGUSR1\"")),
                check("-", "podCertificate, refused", "/spec/volumes/1/projected/sources/0/podCertificate")
                        .on(pod(ENDLESS, spec -> spec.getVolumes().add(podCertificate())))
                        .shows(pod -> event(pod, "FailedMount")));
    }

    private static FeatureCheck.FeatureDraft check(String id, String what, String field) {
        return new FeatureCheck.FeatureDraft(id, what, field);
    }

    /** Returns a pod with one container, which runs a script in a folder with the empty volume {@code shared}. */
    private Pod pod(String script, Consumer<PodSpec> changes) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace(name)
                .withName("pod-" + UUID.randomUUID().toString().substring(0, 8))
                .endMetadata()
                .withNewSpec()
                .withNodeName(name)
                .withRestartPolicy("Always")
                // defaults that not every server sets
                .withTerminationGracePeriodSeconds(1L)
                .withEnableServiceLinks(true)
                .withAutomountServiceAccountToken(false)
                .addNewVolume()
                .withName("shared")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .addToContainers(new ContainerBuilder()
                        .withName("main")
                        .withImage("registry/main:1")
                        .withImagePullPolicy("IfNotPresent")
                        .withTerminationMessagePath("/dev/termination-log")
                        .withTerminationMessagePolicy("File")
                        .withCommand("sh", "-c", script)
                        .addNewVolumeMount()
                        .withName("shared")
                        .withMountPath("/shared")
                        .endVolumeMount()
                        .build())
                .endSpec()
                .build();
        changes.accept(pod.getSpec());
        return pod;
    }

    /** Its files are the bundle by its name, and by its signer. */
    private static void trusting(PodSpec spec) {
        spec.setRestartPolicy("Never");
        spec.getVolumes()
                .add(new VolumeBuilder()
                        .withName("trust")
                        .withNewProjected()
                        .withDefaultMode(0644)
                        .addNewSource()
                        .withNewClusterTrustBundle()
                        .withName(bundleOf(spec.getNodeName()))
                        .withPath("named.pem")
                        .endClusterTrustBundle()
                        .endSource()
                        .addNewSource()
                        .withNewClusterTrustBundle()
                        .withSignerName(SIGNER)
                        .withNewLabelSelector()
                        .addToMatchLabels("features", spec.getNodeName())
                        .endLabelSelector()
                        .withPath("signed.pem")
                        .endClusterTrustBundle()
                        .endSource()
                        .endProjected()
                        .build());
        main(spec)
                .getVolumeMounts()
                .add(new VolumeMountBuilder()
                        .withName("trust")
                        .withMountPath("/trust")
                        .build());
    }

    /** The name of a bundle begins with its signer. */
    private static String bundleOf(String node) {
        return SIGNER.replace('/', ':') + ":" + node;
    }

    /** Creates a bundle in each version that the server may have, until one is taken. */
    private void createBundle() throws GeneralSecurityException {
        for (String version : List.of("v1", "v1beta1", "v1alpha1")) {
            GenericKubernetesResource bundle = FakeTrustBundles.bundle(
                    bundleOf(name), SIGNER, Map.of("features", name), certificates.authorityPem());
            bundle.setApiVersion("certificates.k8s.io/" + version);
            try {
                bundles(bundle).create();
                bundles = bundle;
                return;
            } catch (KubernetesClientException e) {
                if (e.getCode() != NOT_FOUND) {
                    throw e;
                }
            }
        }
    }

    /** Not by what the server says of its kinds, which it may not have. */
    private Resource<GenericKubernetesResource> bundles(GenericKubernetesResource bundle) {
        String[] groupAndVersion = bundle.getApiVersion().split("/", 2);
        return admin.genericKubernetesResources(new ResourceDefinitionContext.Builder()
                        .withGroup(groupAndVersion[0])
                        .withVersion(groupAndVersion[1])
                        .withKind(bundle.getKind())
                        .withPlural("clustertrustbundles")
                        .withNamespaced(false)
                        .build())
                .resource(bundle);
    }

    private boolean hasBundles() {
        if (bundles == null) {
            throw new KubernetesClientException("the server has no ClusterTrustBundles", NOT_FOUND, null);
        }
        return true;
    }

    private static Container main(PodSpec spec) {
        return spec.getContainers().get(0);
    }

    private static PodSecurityContext security(PodSpec spec) {
        spec.setSecurityContext(new PodSecurityContext());
        return spec.getSecurityContext();
    }

    private static ResourceRequirements cpu(String request) {
        return new ResourceRequirementsBuilder()
                .addToRequests("cpu", new Quantity(request))
                .build();
    }

    private Pod rules(String action, String script) {
        return pod(script, spec -> {
            spec.setRestartPolicy("Never");
            main(spec).setRestartPolicy("Never");
            main(spec)
                    .setRestartPolicyRules(List.of(new ContainerRestartRuleBuilder()
                            .withAction(action)
                            .withNewExitCodes()
                            .withOperator("In")
                            .withValues(42)
                            .endExitCodes()
                            .build()));
        });
    }

    private static void readOnlyBelow(PodSpec spec) {
        VolumeMount mount = main(spec).getVolumeMounts().get(0);
        mount.setReadOnly(true);
        mount.setRecursiveReadOnly("Enabled");
    }

    private static void rootThatIsNone(PodSpec spec) {
        security(spec).setRunAsNonRoot(true);
        spec.getSecurityContext().setRunAsUser(0L);
    }

    /** The variable comes from a file that the init container writes. */
    private static void greeted(PodSpec spec) {
        spec.setRestartPolicy("Never");
        Container first = new ContainerBuilder(main(spec))
                .withName("first")
                .withCommand("sh", "-c", "echo \"GREETING='hello'\" >shared/env")
                .build();
        spec.getInitContainers().add(first);
        main(spec)
                .getEnv()
                .add(new EnvVarBuilder()
                        .withName("GREETING")
                        .withNewValueFrom()
                        .withNewFileKeyRef()
                        .withVolumeName("shared")
                        .withPath("env")
                        .withKey("GREETING")
                        .endFileKeyRef()
                        .endValueFrom()
                        .build());
    }

    private static void named(PodSpec spec) {
        spec.setRestartPolicy("Never");
        spec.setHostname("shown");
    }

    private static void resolvedElsewhere(PodSpec spec) {
        spec.setDnsConfig(
                new PodDNSConfigBuilder().addToSearches("shop.example").build());
    }

    private static void stoppedByUser1(PodSpec spec) {
        spec.setOs(new PodOSBuilder().withName("linux").build());
        main(spec).setLifecycle(new LifecycleBuilder().withStopSignal("SIGUSR1").build());
    }

    private static Volume podCertificate() {
        return new VolumeBuilder()
                .withName("certificate")
                .withNewProjected()
                .withDefaultMode(0644)
                .addNewSource()
                .withNewPodCertificate()
                .withSignerName("example.com/signer")
                .withKeyType("ED25519")
                .withCredentialBundlePath("bundle.pem")
                .endPodCertificate()
                .endSource()
                .endProjected()
                .build();
    }

    private static int restarts(Pod pod) {
        return main(pod).getRestartCount();
    }

    private static @Nullable String message(Pod pod) {
        return main(pod).getState().getTerminated().getMessage();
    }

    private static boolean isIn(Pod pod, String phase) {
        return pod.getStatus() != null && phase.equals(pod.getStatus().getPhase());
    }

    private static ContainerStatus main(Pod pod) {
        PodStatus status = pod.getStatus();
        return status == null || status.getContainerStatuses().isEmpty()
                ? NOT_REPORTED
                : status.getContainerStatuses().get(0);
    }

    private static @Nullable String refused(Pod pod, String reason) {
        return isIn(pod, "Failed") && reason.equals(pod.getStatus().getReason())
                ? reason + ": " + pod.getStatus().getMessage()
                : null;
    }

    private static @Nullable String waiting(Pod pod, String reason, String message) {
        return Optional.ofNullable(main(pod).getState().getWaiting())
                .filter(wait -> reason.equals(wait.getReason()))
                .map(wait -> String.valueOf(wait.getMessage()))
                .filter(text -> text.contains(message))
                .orElse(null);
    }

    private static @Nullable String ephemeral(Pod pod) {
        return pod.getStatus().getEphemeralContainerStatuses().stream()
                .map(status -> status.getState().getTerminated())
                .filter(Objects::nonNull)
                .map(ended -> String.valueOf(ended.getMessage()))
                .findFirst()
                .orElse(null);
    }

    private static @Nullable String trueSince(Pod pod, String type) {
        return pod.getStatus().getConditions().stream()
                .filter(condition -> type.equals(condition.getType()) && "True".equals(condition.getStatus()))
                .map(condition -> "True since " + condition.getLastTransitionTime())
                .findFirst()
                .orElse(null);
    }

    private static @Nullable String condition(Pod pod, String type) {
        return pod.getStatus().getConditions().stream()
                .filter(condition -> type.equals(condition.getType()))
                .map(condition -> condition.getReason() + ": " + condition.getMessage())
                .findFirst()
                .orElse(null);
    }

    /** Returns the message of the latest event about a pod with that reason. */
    private @Nullable String event(Pod pod, String reason) {
        return admin.v1().events().inNamespace(name).list().getItems().stream()
                .filter(event -> pod.getMetadata()
                        .getUid()
                        .equals(event.getInvolvedObject().getUid()))
                .filter(event -> reason.equals(event.getReason()))
                .map(event -> String.valueOf(event.getMessage()))
                .reduce((first, second) -> second)
                .orElse(null);
    }

    /** Asks for a resize, once. */
    private boolean resized(Pod pod) {
        return patched(
                pod,
                "resize",
                "{\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}}");
    }

    /** Adds an ephemeral container, once. */
    private boolean debugged(Pod pod) {
        return patched(pod, "ephemeralcontainers", """
                {"spec": {"ephemeralContainers": [{"name": "debug", "image": "registry/debug:1", "imagePullPolicy": "IfNotPresent",
                 "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                 "command": ["sh", "-c", "printf looked >dev/termination-log"]}]}}
                """);
    }

    /** Changes the spec of a pod by a subresource, once. */
    private boolean patched(Pod pod, String subresource, String patch) {
        if (acted.add(pod.getMetadata().getName())) {
            PodResource resource =
                    admin.pods().inNamespace(name).withName(pod.getMetadata().getName());
            try {
                resource.subresource(subresource).patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
            } catch (KubernetesClientException e) {
                if (e.getCode() != NOT_FOUND) {
                    throw e;
                }
                // a server that lets anybody change a spec; others refuse it, or drop what they do not know
                Pod changed = resource.patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
                if (changed.getSpec().equals(pod.getSpec())) {
                    throw new KubernetesClientException("the server has no pods/" + subresource, NOT_FOUND, null);
                }
            }
        }
        return true;
    }

    private @Nullable String measured(Pod pod) throws Exception {
        String series = "container_cpu_usage_seconds_total{";
        URI uri = URI.create("https://127.0.0.1:" + agent.httpsPort().orElseThrow() + "/metrics/cadvisor");
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(longest)
                .header("Authorization", "Bearer " + token)
                .build();
        String answer = HttpClient.newBuilder()
                .sslContext(certificates.tlsWithoutCertificate())
                .build()
                .send(request, BodyHandlers.ofString())
                .body();
        return answer.lines()
                .filter(line -> line.startsWith(series)
                        && line.contains("\"" + pod.getMetadata().getName() + "\"")
                        && line.contains("container=\"main\""))
                .findFirst()
                .orElse(null);
    }

    private @Nullable String version() {
        Node node = Objects.requireNonNull(admin.nodes().withName(name).get(), "the Node is gone");
        String version = node.getStatus().getNodeInfo().getKubeletVersion();
        return version.contains("-podcache.") ? version : null;
    }

    private void deleteBundle() {
        if (bundles != null) {
            bundles(bundles).delete();
        }
    }

    private void stopContainers() throws IOException {
        try (Timekeeper time = Timekeeper.system()) {
            ProcessRuntime left = runtime(time);
            for (PodKey pod : left.pods()) {
                left.stopPod(pod, Duration.ZERO);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void ifThere(Runnable deletion) {
        try {
            deletion.run();
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND) {
                throw e;
            }
        }
    }

    /** Ends the agent and its containers, and deletes what was created. */
    @Override
    public void close() throws IOException {
        // the last is closed first, and each though another fails
        try (Closer all = Closer.create()) {
            all.register(() -> Removal.of(folder));
            all.register(admin);
            all.register(server::close);
            all.register(() -> ifThere(() ->
                    admin.leases().inNamespace("kube-node-lease").withName(name).delete()));
            all.register(() -> ifThere(() -> admin.nodes().withName(name).delete()));
            all.register(() -> ifThere(this::deleteBundle));
            all.register(() -> ifThere(() -> admin.namespaces().withName(name).delete()));
            all.register(() -> ifThere(
                    () -> admin.pods().inNamespace(name).withGracePeriod(0).delete()));
            all.register(this::stopContainers);
            all.register(agent::close);
        }
    }
}
