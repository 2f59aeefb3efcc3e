package dev.podcache.cli.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.output.CapturedConsole;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RbacCommandTest {

    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    private final CapturedConsole console = new CapturedConsole(Path.of(""));

    @Test
    void call_nodeWhosePodsProjectTrustBundles_allowsToReadThem(@TempDir Path directory) throws IOException {
        Path pods = Files.writeString(directory.resolve("trusting.yaml"), """
                apiVersion: v1
                kind: Pod
                metadata: {name: web, namespace: shop}
                spec:
                  containers: [{name: main, image: web}]
                  volumes:
                  - name: trust
                    projected:
                      sources:
                      - clusterTrustBundle: {name: "example.com:signer:v1", path: a.pem}
                      - clusterTrustBundle: {name: roots, path: b.pem}
                      - clusterTrustBundle: {signerName: example.com/signer, labelSelector: {}, path: c.pem}
                """);

        console.execute("rbac", "--node", "worker-1", "-f", pods.toString());

        String rule = "- {apiGroups: [certificates.k8s.io], resources: [clustertrustbundles], ";
        assertThat(String.join("\n", console.out()))
                .contains(rule + "resourceNames: [\"example.com:signer:v1\", roots], verbs: [list, watch]}")
                .contains(rule + "verbs: [list, watch]}");
        console.execute("rbac", "-f", pods.toString());
        assertThat(console.out())
                .filteredOn(line -> line.contains("clustertrustbundles"))
                .as("only an agent reads them")
                .hasSize(2);
    }

    @Test
    void rbac_namedObjects_areARoleAndItsBinding() {
        int code = console.execute(
                "rbac",
                "--secrets",
                "shop/db,shop/cert",
                "--config-maps",
                "shop/settings",
                "--service-account",
                "shop/web");

        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        assertThat(String.join("\n", console.out())).isEqualTo("""
                # for ServiceAccount shop/web
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: Role
                metadata: {name: podcache-reader, namespace: shop}
                rules:
                  - {apiGroups: [""], resources: [secrets], resourceNames: [cert, db], verbs: [list, watch]}
                  - {apiGroups: [""], resources: [configmaps], resourceNames: [settings], verbs: [list, watch]}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: RoleBinding
                metadata: {name: podcache-reader, namespace: shop}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: podcache-reader}
                subjects:
                  - {kind: ServiceAccount, name: web, namespace: shop}""");
    }

    @Test
    void rbac_emptyUser_isRefused() {
        int code = console.execute("rbac", "--secrets", "shop/db", "--user", "");

        assertThat(code).isEqualTo(2);
        assertThat(console.err())
                .anySatisfy(line -> assertThat(line).contains("--user is empty: give the name of a user"));
    }

    @ParameterizedTest
    @CsvSource({"Get, '[get]'", "Cache, '[get]'", "Watch, '[list, watch]'"})
    void rbac_strategy_decidesTheVerbs(String strategy, String verbs) {
        console.execute("rbac", "--secrets", "shop/db", "--strategy", strategy);

        assertThat(console.out())
                .filteredOn(line -> line.contains("verbs"))
                .singleElement()
                .asString()
                .endsWith("resourceNames: [db], verbs: " + verbs + "}");
    }

    @Test
    void rbac_severalNamespaces_areARoleEach() {
        console.execute("rbac", "--secrets", "shop/db,bank/db,here", "-n", "default");

        assertThat(console.out())
                .filteredOn(line -> line.startsWith("metadata"))
                .containsExactly(
                        "metadata: {name: podcache-reader, namespace: bank}",
                        "metadata: {name: podcache-reader, namespace: bank}",
                        "metadata: {name: podcache-reader, namespace: default}",
                        "metadata: {name: podcache-reader, namespace: default}",
                        "metadata: {name: podcache-reader, namespace: shop}",
                        "metadata: {name: podcache-reader, namespace: shop}");
        assertThat(console.out())
                .filteredOn(line -> line.contains("kind: ServiceAccount"))
                .hasSize(3)
                .allMatch(line -> line.equals("  - {kind: ServiceAccount, name: podcache, namespace: bank}"));
    }

    @Test
    void rbac_manifest_isWhatItsPodsReferTo() {
        int code = console.execute("rbac", "-f", "deploy/examples/example-pod.yaml", "--user", "jane@example.dev");

        assertThat(code).isZero();
        assertThat(console.out())
                .contains(
                        "metadata: {name: podcache-reader, namespace: shop}",
                        "  - {apiGroups: [\"\"], resources: [secrets], resourceNames: [db], verbs: [list, watch]}",
                        "  - {kind: User, apiGroup: rbac.authorization.k8s.io, name: \"jane@example.dev\"}");
    }

    @Test
    void rbac_node_isWhatDeployHas() throws IOException {
        int code = console.execute("rbac", "--node", "worker-1", "--name", "podcache");

        assertThat(code).isZero();
        assertThat(parsed(String.join("\n", console.out())))
                .containsExactlyElementsOf(parsed(Files.readString(Path.of("deploy/examples/rbac-agent.yaml"))));
    }

    @Test
    void rbac_nodeAndObjects_areBothForTheSameAccount() {
        console.execute("rbac", "--node", "worker-1", "--secrets", "shop/db");

        assertThat(console.out())
                .contains(
                        "metadata: {name: podcache-worker-1}",
                        "metadata: {name: podcache-worker-1-lease, namespace: kube-node-lease}",
                        "metadata: {name: podcache-reader, namespace: shop}");
        assertThat(console.out())
                .filteredOn(line -> line.contains("kind: ServiceAccount,"))
                .hasSize(3)
                .allMatch(line -> line.equals("  - {kind: ServiceAccount, name: podcache, namespace: kube-system}"));
    }

    /** As ObjectCaching does: a watch of it by each agent would make its updates expensive. */
    @Test
    void rbac_nodeAndARootCertificate_mayGetIt() {
        console.execute("rbac", "--node", "worker-1", "--config-maps", "shop/kube-root-ca.crt,shop/settings");

        assertThat(console.out())
                .contains(
                        "  - {apiGroups: [\"\"], resources: [configmaps], resourceNames: [settings], verbs: [list, watch]}",
                        "  - {apiGroups: [\"\"], resources: [configmaps], resourceNames: [kube-root-ca.crt], verbs: [get]}");
    }

    /** An agent requests the tokens of its pods, which a cache does not. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void rbac_manifestOfPodsWithTokens_agentMayRequestThem(boolean agent, @TempDir Path folder) throws IOException {
        Path manifest = Files.writeString(folder.resolve("pods.yaml"), """
                apiVersion: v1
                kind: Pod
                metadata: {name: web, namespace: shop}
                spec: {serviceAccountName: reader, containers: [{name: main, image: web}]}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: bare, namespace: shop}
                spec: {automountServiceAccountToken: false, containers: [{name: main, image: web}]}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: other, namespace: shop}
                spec: {containers: [{name: main, image: web}]}
                """);

        console.execute(
                agent
                        ? new String[] {"rbac", "-f", manifest.toString(), "--node", "worker-1"}
                        : new String[] {"rbac", "-f", manifest.toString()});

        String rule =
                "  - {apiGroups: [\"\"], resources: [serviceaccounts/token], resourceNames: [default, reader], verbs: [create]}";
        assertThat(console.out().contains(rule)).isEqualTo(agent);
        assertThat(console.out())
                .contains("  - {apiGroups: [\"\"], resources: [configmaps], resourceNames: [kube-root-ca.crt], verbs: "
                        + (agent ? "[get]}" : "[list, watch]}"));
    }

    /** Standard input can be read once only, and a node's Roles come from several looks at the pods. */
    @Test
    void rbac_nodeAndStandardInput_isWhatTheSameFileGives(@TempDir Path folder) throws IOException {
        String pod = """
                apiVersion: v1
                kind: Pod
                metadata: {name: web, namespace: shop}
                spec: {serviceAccountName: reader, containers: [{name: main, image: web}]}
                """;
        Path manifest = Files.writeString(folder.resolve("pod.yaml"), pod);
        CapturedConsole ofFile = new CapturedConsole(Path.of(""));
        ofFile.execute("rbac", "--node", "worker-1", "-f", manifest.toString());

        int code = console.withInput(pod).execute("rbac", "--node", "worker-1", "-f", "-");

        assertThat(console.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(console.out())
                .anyMatch(line -> line.contains("serviceaccounts/token"))
                .isEqualTo(ofFile.out());
    }

    @Test
    void rbac_json_isOneManifestALine() {
        console.execute("rbac", "--secrets", "shop/db", "-o", "json");

        assertThat(console.out())
                .hasSize(2)
                .allSatisfy(line -> assertThat(parsed(line)).hasSize(1));
    }

    /** YAML 1.1, which kubectl reads, has numbers and booleans that are legal names. */
    @ParameterizedTest
    @ValueSource(strings = {"yes", "on", "true", "null", "0777", "1e3", "123", "0x1f", "n"})
    void rbac_nameThatLooksLikeNoText_isQuoted(String name) {
        console.execute("rbac", "--secrets", "shop/" + name);

        assertThat(console.out()).anyMatch(line -> line.contains("resourceNames: [\"" + name + "\"]"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rbac | the objects are missing: set --secrets, --config-maps, -f or --node",
                "rbac --secrets shop/Db_1 | --secrets: name \"Db_1\" is not a legal",
                "rbac --secrets db | --secrets: \"db\" names no namespace: write NAMESPACE/NAME, or set --namespace",
                "rbac --config-maps a/b/c | --config-maps: name \"b/c\" is not a legal",
                "rbac --secrets shop/db --service-account A/b | --service-account: namespace \"A\" is not a legal",
                "rbac --secrets shop/db --user a --service-account b | exclude each other",
                "rbac --node Worker_1 | --node: name \"Worker_1\" is not a legal",
                "rbac --secrets shop/db --name X | --name: name \"X\" is not a legal",
                "rbac --secrets shop/db --strategy Often | 'Often'"
            })
    void rbac_wrongCommandLine_isUsageErrorThatQuotesIt(String line, String complaint) {
        int code = console.execute(line.split(" "));

        assertThat(code).isEqualTo(2);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).first().asString().startsWith("error: ").contains(complaint);
    }

    private static List<HasMetadata> parsed(String manifests) {
        Object read = YAML.unmarshal(manifests);
        return read instanceof HasMetadata one
                ? List.of(one)
                : ((List<?>) read).stream().map(HasMetadata.class::cast).toList();
    }
}
