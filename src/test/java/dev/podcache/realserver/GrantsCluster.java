package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.access.GrantPolicy;
import dev.podcache.access.Grants;
import dev.podcache.cli.Main;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.ForkedJava;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Namespaces on a real server with owners of a custom kind, a controller of Roles and an operator, each with an identity
 * that has exactly what {@code podcache grants --print-rbac} prints.
 */
final class GrantsCluster implements AutoCloseable {

    static final String ROLE = "podcache-sites";
    private static final String GROUP = "grants.example.dev";

    final RealApiServer server;
    final KubernetesClient admin;
    final KubernetesClient operator;
    final KubernetesClient controller;
    final List<String> namespaces = new ArrayList<>();
    final Path policyFile;
    private final Path folder;
    private final String kind;
    private final String name;
    private final String onBehalfOf;
    private final List<Grants> running = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();

    /**
     * @param kind of the owners, defined here
     * @param onBehalfOf a line of the policy; empty for none
     */
    GrantsCluster(RealApiServer server, String kind, int namespaces, String onBehalfOf, Path folder) {
        this.server = server;
        this.kind = kind;
        this.folder = folder;
        this.onBehalfOf = onBehalfOf;
        admin = server.client();
        define();
        for (int i = 0; i < namespaces; i++) {
            this.namespaces.add(server.createNamespaceLike("grants"));
        }
        name = this.namespaces.get(0);
        operator = server.clientFor("operator-" + name);
        controller = server.clientFor("controller-" + name);
        policyFile = folder.resolve("policy.yaml");
        select(this.namespaces);
        apply();
    }

    /** Writes a policy with these namespaces. Controllers that run keep to the one that they have read. */
    void select(List<String> selected) {
        write(policyFile.getFileName().toString(), """
                apiVersion: podcache.dev/v1alpha1
                kind: GrantPolicy
                metadata: {name: %s}
                spec:
                  role: %s
                  namespaces: [%s]
                  owners:
                  - apiVersion: %s/v1
                    kind: %s
                    %s
                    references:
                    - {kind: Secret, path: ".spec.secrets[*]"}
                    - {kind: ConfigMap, path: .spec.settings}
                  - {apiVersion: v1, kind: Pod}
                """.formatted(
                        name, ROLE, String.join(", ", selected), GROUP, kind, onBehalfOf));
    }

    String namespace() {
        return name;
    }

    private Path write(String file, String text) {
        try {
            return Files.writeString(folder.resolve(file), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Defines the kind and waits until it is served. */
    void define() {
        String plural = plural();
        String definition = """
                {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                 "metadata": {"name": "%1$s.%3$s"},
                 "spec": {"group": "%3$s", "scope": "Namespaced",
                   "names": {"kind": "%2$s", "plural": "%1$s", "singular": "%4$s"},
                   "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                     {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}
                """.formatted(plural, kind, GROUP, kind.toLowerCase(Locale.ROOT));
        admin.load(new ByteArrayInputStream(definition.getBytes(StandardCharsets.UTF_8)))
                .resources()
                .forEach(resource -> resource.createOr(existing -> existing.update()));
        await().ignoreExceptions()
                .until(() -> admin.genericKubernetesResources(context())
                                .inNamespace("default")
                                .list()
                        != null);
    }

    void removeDefinition() {
        admin.apiextensions()
                .v1()
                .customResourceDefinitions()
                .withName(plural() + "." + GROUP)
                .delete();
        // it ends some time later, and cannot be made again before
        await().until(() -> admin.apiextensions()
                        .v1()
                        .customResourceDefinitions()
                        .withName(plural() + "." + GROUP)
                        .get()
                == null);
    }

    private String plural() {
        return kind.toLowerCase(Locale.ROOT) + "s";
    }

    private ResourceDefinitionContext context() {
        return new ResourceDefinitionContext.Builder()
                .withGroup(GROUP)
                .withVersion("v1")
                .withKind(kind)
                .withPlural(plural())
                .withNamespaced(true)
                .build();
    }

    /** Gives the identities what the program prints for them. */
    void apply(String... options) {
        List<String> arguments = new ArrayList<>(
                List.of("--print-rbac", "--controller", "controller-" + name, "--operator", "operator-" + name));
        arguments.addAll(List.of(options));
        CapturedConsole console = run(arguments.toArray(String[]::new));
        assertThat(console.errText()).isEmpty();
        server.kubectl(
                "apply",
                "-f",
                write("rbac.yaml", String.join("\n", console.out())).toString());
    }

    /** Runs the program as the administrator. */
    CapturedConsole run(String... options) {
        return runAs(server.kubeconfig(), options);
    }

    /** Runs the program with the credentials of a kubeconfig. */
    CapturedConsole runAs(Path kubeconfig, String... options) {
        CapturedConsole console = new CapturedConsole(folder);
        List<String> arguments = new ArrayList<>(List.of(
                "grants",
                "--file",
                policyFile.toString(),
                "--kubeconfig",
                kubeconfig.toString(),
                "--lease-namespace",
                name));
        arguments.addAll(List.of(options));
        console.execute(arguments.toArray(String[]::new));
        return console;
    }

    /** Starts the program as a process of its own, which writes to the file {@code name.log}. */
    Process startProcess(String processName) throws IOException {
        ProcessBuilder program = ForkedJava.program(
                List.of("-Xmx64m"),
                Main.class,
                List.of(
                        "grants",
                        "--file",
                        policyFile.toString(),
                        "--kubeconfig",
                        server.kubeconfigFor("controller-" + name).toString(),
                        "--lease-namespace",
                        name));
        program.environment().put("HOSTNAME", processName);
        program.redirectErrorStream(true)
                .redirectOutput(folder.resolve(processName + ".log").toFile());
        Process process = program.start();
        processes.add(process);
        return process;
    }

    /** Returns the name of the process that leads, by the Lease; empty if there is none. */
    String holder() {
        Lease lease = admin.leases()
                .inNamespace(name)
                .withName("podcache-grants-" + name)
                .get();
        String identity = lease == null ? null : lease.getSpec().getHolderIdentity();
        return identity == null ? "" : identity.replaceFirst("_.*", "");
    }

    Grants start() {
        Grants grants = Grants.builder(controller)
                .policy(GrantPolicy.read(policyFile))
                .leaseNamespace(name)
                .start();
        running.add(grants);
        return grants;
    }

    void put(String namespace, String... secrets) {
        for (String secret : secrets) {
            admin.resource(Secrets.of(namespace, secret, "v1")).createOr(existing -> existing.update());
        }
    }

    GenericKubernetesResource owner(String namespace, String owner, List<String> secrets) {
        GenericKubernetesResource resource = new GenericKubernetesResource();
        resource.setApiVersion(GROUP + "/v1");
        resource.setKind(kind);
        resource.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(owner).build());
        resource.setAdditionalProperty("spec", Map.of("secrets", secrets, "serviceAccountName", "web"));
        return resource;
    }

    void create(String namespace, String owner, String... secrets) {
        admin.resource(owner(namespace, owner, List.of(secrets))).create();
    }

    void update(String namespace, String owner, String... secrets) {
        admin.resource(owner(namespace, owner, List.of(secrets))).update();
    }

    void delete(String namespace, String owner) {
        admin.genericKubernetesResources(context())
                .inNamespace(namespace)
                .withName(owner)
                .delete();
    }

    /** Returns the names of Secrets that the Role grants, in order; "none" if there is no Role. */
    String granted(String namespace) {
        Role role = admin.rbac().roles().inNamespace(namespace).withName(ROLE).get();
        if (role == null) {
            return "none";
        }
        List<String> names = new ArrayList<>();
        for (PolicyRule rule : role.getRules() == null ? List.<PolicyRule>of() : role.getRules()) {
            assertThat(rule.getVerbs()).containsExactly("get", "list", "watch");
            assertThat(rule.getResourceNames()).isNotEmpty().isSorted();
            names.addAll(rule.getResourceNames());
        }
        return String.join(",", names);
    }

    void awaitGranted(String namespace, String names) {
        await().untilAsserted(() -> assertThat(granted(namespace)).isEqualTo(names));
    }

    /** Waits until each Role grants exactly what the owners of its namespace name. */
    void awaitEqual() {
        for (String namespace : namespaces) {
            await().ignoreExceptions().untilAsserted(() -> {
                String granted = granted(namespace);
                assertThat(granted.equals("none") ? "" : granted).isEqualTo(referred(namespace));
            });
        }
    }

    boolean operatorReads(String namespace, String secret) {
        try {
            return operator.secrets().inNamespace(namespace).withName(secret).get() != null;
        } catch (KubernetesClientException e) {
            assertThat(e.getCode()).isEqualTo(403);
            return false;
        }
    }

    /** Returns the Secrets that the owners of a namespace refer to, in order. */
    String referred(String namespace) {
        TreeSet<String> names = new TreeSet<>();
        for (GenericKubernetesResource owner : admin.genericKubernetesResources(context())
                .inNamespace(namespace)
                .list()
                .getItems()) {
            if (owner.get("spec", "secrets") instanceof List<?> secrets) {
                secrets.forEach(secret -> names.add(String.valueOf(secret)));
            }
        }
        return String.join(",", names);
    }

    /** Returns the reasons of events in a namespace. */
    Set<String> reasons(String namespace) {
        Set<String> reasons = new TreeSet<>();
        for (Event event : admin.v1().events().inNamespace(namespace).list().getItems()) {
            reasons.add(event.getInvolvedObject().getKind() + " "
                    + event.getInvolvedObject().getName() + " " + event.getReason());
        }
        return reasons;
    }

    @Override
    public void close() {
        running.forEach(Grants::close);
        processes.forEach(Process::destroyForcibly);
        for (Process process : processes) {
            process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
        }
        controller.close();
        operator.close();
        admin.close();
    }
}
