package dev.podcache.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.access.GrantPolicy;
import dev.podcache.access.Grants;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The operator of the example and {@code podcache grants}, each with an identity of its own that may read no Secret, with
 * the rights that {@code --print-rbac} prints and nothing else.
 */
@ExtendWith(NoLeaks.class)
abstract class WebsiteOperatorContract {

    static final String OPERATOR = "website-operator";
    static final String CONTROLLER = "website-grants";

    /** What the operator needs besides the Secrets. */
    private static final String RIGHTS_ON_WEBSITES = """
            apiVersion: rbac.authorization.k8s.io/v1
            kind: Role
            metadata: {name: website-operator, namespace: NAMESPACE}
            rules:
            - {apiGroups: [example.dev], resources: [websites], verbs: [get, list, watch]}
            - {apiGroups: [example.dev], resources: [websites/status], verbs: [get, update, patch]}
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: RoleBinding
            metadata: {name: website-operator, namespace: NAMESPACE}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: website-operator}
            subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: website-operator}]
            """;

    @TempDir
    private Path folder;

    private KubernetesClient admin;
    private KubernetesClient operatorClient;
    private KubernetesClient controllerClient;
    private String namespace;
    private Path policy;

    abstract KubernetesClient newAdmin();

    abstract KubernetesClient newClient(String user);

    /** Makes the server serve Websites, and returns a namespace of this test's own. */
    abstract String prepare(KubernetesClient by);

    @BeforeEach
    void grantWhatIsPrinted(NoLeaks leaks) throws IOException {
        // the policy names its namespace, so no right in others is printed
        leaks.allowWarnings("cannot be looked for in namespaces that are not selected");
        admin = newAdmin();
        namespace = prepare(admin);
        operatorClient = newClient(OPERATOR);
        controllerClient = newClient(CONTROLLER);
        policy = Files.writeString(
                folder.resolve("policy.yaml"),
                Files.readString(Path.of("deploy", "examples", "grant-policy.yaml"))
                        .replace("[shop]", "[" + namespace + "]"));
        apply(RIGHTS_ON_WEBSITES.replace("NAMESPACE", namespace));
        CapturedConsole console = new CapturedConsole(folder);
        int code = console.execute(
                "grants",
                "--file",
                policy.toString(),
                "--print-rbac",
                "--lease-namespace",
                namespace,
                "--operator",
                OPERATOR,
                "--controller",
                CONTROLLER);
        assertThat(code).as(console.errText()).isZero();
        apply(String.join("\n", console.out()));
    }

    @AfterEach
    void close() {
        controllerClient.close();
        operatorClient.close();
        admin.close();
    }

    private void apply(String manifests) {
        for (HasMetadata manifest : admin.load(new ByteArrayInputStream(manifests.getBytes(StandardCharsets.UTF_8)))
                .items()) {
            // for servers from Kubernetes 1.30 on
            if (manifest.getKind().startsWith("ValidatingAdmissionPolicy")
                    && !admin.supports(manifest.getApiVersion(), manifest.getKind())) {
                continue;
            }
            admin.resource(manifest).createOr(existing -> existing.update());
        }
    }

    Secret put(String name, String value) {
        return admin.resource(Secrets.of(namespace, name, value)).createOr(existing -> existing.update());
    }

    GenericKubernetesResource website(String name, String secret) {
        GenericKubernetesResource website = new GenericKubernetesResource();
        website.setApiVersion("example.dev/v1");
        website.setKind("Website");
        website.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        website.setAdditionalProperty("spec", Map.of("tls", Map.of("secretName", secret)));
        return website;
    }

    private String stateOf(String name) {
        GenericKubernetesResource found =
                Objects.requireNonNull(admin.genericKubernetesResources(WebsiteOperator.WEBSITES)
                        .inNamespace(namespace)
                        .withName(name)
                        .get());
        String state = found.get("status", "state");
        return state == null ? "" : state;
    }

    static String uses(Secret secret) {
        return "uses version " + secret.getMetadata().getResourceVersion();
    }

    void awaitState(String name, String state) {
        Patience.await().untilAsserted(() -> assertThat(stateOf(name)).isEqualTo(state));
    }

    private void assertRefused(KubernetesClient client, String secret) {
        assertThatExceptionOfType(KubernetesClientException.class)
                .isThrownBy(() ->
                        client.secrets().inNamespace(namespace).withName(secret).get())
                .satisfies(refusal -> assertThat(refusal.getCode()).isEqualTo(403));
    }

    @Test
    void operator_readsExactlyWhatWebsitesName(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("; retrying");
        Secret tls = put("tls", "v1");
        put("canary", "nobody names it");
        assertRefused(operatorClient, "tls");
        try (Grants grants = Grants.builder(controllerClient)
                        .policy(GrantPolicy.read(policy))
                        .leaseNamespace(namespace)
                        .start();
                WebsiteOperator operator = new WebsiteOperator(operatorClient, namespace)) {
            Patience.await().until(grants::isLeading);
            long begun = System.nanoTime();
            admin.resource(website("one", "tls")).create();
            awaitState("one", uses(tls));
            System.err.printf("from a Website to its Secret: %d ms%n", (System.nanoTime() - begun) / 1_000_000);

            awaitState("one", uses(put("tls", "v2")));
            assertRefused(operatorClient, "canary");
            assertRefused(controllerClient, "tls");

            admin.genericKubernetesResources(WebsiteOperator.WEBSITES)
                    .inNamespace(namespace)
                    .withName("one")
                    .edit(website -> {
                        website.setAdditionalProperty("spec", Map.of("tls", Map.of("secretName", "next")));
                        return website;
                    });
            Patience.await().until(() -> stateOf("one").contains("not found"));
            awaitState("one", uses(put("next", "v1")));
            Patience.await().untilAsserted(() -> assertRefused(operatorClient, "tls"));

            admin.genericKubernetesResources(WebsiteOperator.WEBSITES)
                    .inNamespace(namespace)
                    .withName("one")
                    .delete();
            Patience.await().untilAsserted(() -> assertRefused(operatorClient, "next"));
            assertThat(operator).isNotNull();
        }
    }

    @Test
    void access_thatComesLate_toASecretThatDoesNotExist_isFound(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("; retrying");
        try (WebsiteOperator operator = new WebsiteOperator(operatorClient, namespace)) {
            admin.resource(website("one", "missing")).create();
            Patience.await().until(() -> stateOf("one").contains("not synced"));

            try (Grants grants = Grants.builder(controllerClient)
                    .policy(GrantPolicy.read(policy))
                    .leaseNamespace(namespace)
                    .start()) {
                Patience.await().until(grants::isLeading);
                awaitState("one", "Secret " + namespace + "/missing not found");
            }
            assertThat(operator).isNotNull();
        }
    }
}
