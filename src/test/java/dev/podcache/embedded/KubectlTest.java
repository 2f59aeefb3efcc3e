package dev.podcache.embedded;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.KubectlBinary;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The real kubectl against the embedded server, where kube-api-test has put one. */
@ExtendWith(NoLeaks.class)
class KubectlTest {

    private static final Map<String, String> BASE64 = Map.of("one", "b25lCg==", "two", "dHdvCg==");
    private static final Map<String, String> MANIFESTS =
            Map.of("secrets", """
        apiVersion: v1
        kind: Secret
        metadata: {name: thing, namespace: shop}
        data: {key: VALUE}
        """, "configmaps", """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: thing, namespace: shop}
        data: {key: VALUE}
        """, "pods", """
        apiVersion: v1
        kind: Pod
        metadata: {name: thing, namespace: shop, labels: {key: VALUE}}
        spec:
          containers:
          - name: main
            image: busybox
            env:
            - {name: KEY, value: VALUE}
          volumes:
          - {name: v, secret: {secretName: thing}}
        """, "nodes", """
        apiVersion: v1
        kind: Node
        metadata: {name: thing, labels: {key: VALUE}}
        spec: {unschedulable: true}
        """);

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final List<Process> processes = new ArrayList<>();
    private EmbeddedApiServer server;
    private Path kubectl;

    @TempDir
    private Path directory;

    record Output(int exitCode, String text) {}

    @BeforeEach
    void start() {
        kubectl = KubectlBinary.path();
        server = EmbeddedApiServer.start(cluster);
    }

    @AfterEach
    void stop() {
        processes.forEach(Process::destroyForcibly);
        if (server != null) {
            server.close();
        }
        cluster.close();
        timekeeper.close();
    }

    @ParameterizedTest
    @CsvSource({"secrets", "configmaps", "pods", "nodes"})
    void applyGetDelete_eachResource_works(String resource) throws Exception {
        assertThat(apply(resource, "one").text()).contains("created");
        assertThat(run("get", resource, "thing", "-n", "shop").text())
                .contains("NAME")
                .contains("AGE")
                .contains("thing");
        assertThat(apply(resource, "one").text()).contains("unchanged");
        assertThat(apply(resource, "two").text()).contains("configured");
        assertThat(run("get", resource, "thing", "-n", "shop", "-o", "yaml").text())
                .contains("resourceVersion:")
                .contains(resource.equals("secrets") ? "dHdvCg==" : "two");
        assertThat(run("delete", resource, "thing", "-n", "shop").text()).contains("deleted");
        assertThat(run("get", resource, "thing", "-n", "shop").text()).contains("NotFound");
    }

    @ParameterizedTest
    @CsvSource({"secrets, 3", "configmaps, 3", "pods, 4", "nodes, 3"}) // a pod is marked before it goes
    void getWatch_eachResource_tellsOfChanges(String resource, int changes) throws Exception {
        apply(resource, "one");
        Path output = directory.resolve("watch.txt");
        processes.add(new ProcessBuilder(command("get", resource, "-n", "shop", "-w", "-o", "name"))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start());
        await().until(() -> server.openWatches() == 1);

        apply(resource, "two");
        run("delete", resource, "thing", "-n", "shop");

        await().untilAsserted(() -> assertThat(Files.readAllLines(output))
                .filteredOn(line -> line.endsWith("/thing"))
                .hasSize(changes));
    }

    @Test
    void getWatch_asTable_printsARowAChange() throws Exception {
        apply("secrets", "one");
        Path output = directory.resolve("watch.txt");
        processes.add(new ProcessBuilder(command("get", "secrets", "-A", "-w"))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start());
        await().until(() -> server.openWatches() == 1);

        apply("secrets", "two");

        await().untilAsserted(() -> assertThat(Files.readAllLines(output))
                .filteredOn(line -> line.matches("shop +thing +Opaque +1 .*"))
                .hasSize(2));
    }

    @Test
    void getAll_secretsOfAllNamespaces_showsNamespaceTypeAndCount() throws Exception {
        apply("secrets", "one");

        assertThat(run("get", "secrets", "-A").text()).containsPattern("shop +thing +Opaque +1 ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        merge     | {'metadata':{'labels':{'key':'patched'}}}
        json      | [{'op':'replace','path':'/metadata/labels/key','value':'patched'}]
        strategic | {'metadata':{'labels':{'key':'patched'}},'spec':{'containers':[{'name':'main','image':'new'}]}}
        """)
    void patch_eachType_changesThePod(String type, String patch) throws Exception {
        apply("pods", "one");

        Output output = run("patch", "pod", "thing", "-n", "shop", "--type", type, "-p", patch.replace('\'', '"'));

        assertThat(output.text()).contains("patched");
        Pod pod = cluster.get(Pod.class, "shop", "thing");
        assertThat(pod.getMetadata().getLabels()).containsEntry("key", "patched");
        assertThat(pod.getSpec().getContainers())
                .singleElement()
                .satisfies(main -> assertThat(main.getEnv()).hasSize(1));
    }

    @Test
    void annotateAndLabel_aNode_areStored() throws Exception {
        apply("nodes", "one");

        assertThat(run("annotate", "node", "thing", "node.alpha.kubernetes.io/ttl=15")
                        .exitCode())
                .isZero();
        assertThat(run("label", "node", "thing", "zone=a").exitCode()).isZero();

        Node node = cluster.get(Node.class, "", "thing");
        assertThat(node.getMetadata().getAnnotations()).containsEntry("node.alpha.kubernetes.io/ttl", "15");
        assertThat(node.getMetadata().getLabels()).containsEntry("zone", "a");
    }

    @Test
    void createSecretGeneric_literal_isStored() throws Exception {
        String text = "h\u00fcbsch \u65e5\u672c";

        Output output = run("create", "secret", "generic", "db", "-n", "shop", "--from-literal=password=" + text);

        assertThat(output.text()).contains("created");
        Secret secret = cluster.get(Secret.class, "shop", "db");
        assertThat(Base64.getDecoder().decode(secret.getData().get("password")))
                .isEqualTo(text.getBytes(StandardCharsets.UTF_8));
        assertThat(secret.getType()).isEqualTo("Opaque");
    }

    @Test
    void createConfigMap_literals_isStored() throws Exception {
        run("create", "configmap", "settings", "-n", "shop", "--from-literal=a=1", "--from-literal=b=2");

        assertThat(cluster.get(ConfigMap.class, "shop", "settings").getData())
                .containsExactlyInAnyOrderEntriesOf(Map.of("a", "1", "b", "2"));
    }

    @Test
    void createNamespace_name_isStored() throws Exception {
        assertThat(run("create", "namespace", "fresh").text()).contains("created");
        assertThat(run("get", "namespaces").text()).contains("fresh").contains("Active");
    }

    @Test
    void replace_aConfigMap_isStored() throws Exception {
        apply("configmaps", "one");

        assertThat(run(
                                "replace",
                                "--validate=false",
                                "-f",
                                manifest("configmaps", "two").toString())
                        .exitCode())
                .isZero();

        assertThat(cluster.get(ConfigMap.class, "shop", "thing").getData()).containsEntry("key", "two");
    }

    @Test
    void delete_podOnANodeWithoutWaiting_onlyMarksIt() throws Exception {
        apply("pods", "one");
        run("patch", "pod", "thing", "-n", "shop", "-p", "{\"spec\":{\"nodeName\":\"worker-1\"}}");

        assertThat(run("delete", "pod", "thing", "-n", "shop", "--wait=false").exitCode())
                .isZero();
        assertThat(cluster.get(Pod.class, "shop", "thing").getMetadata().getDeletionTimestamp())
                .isNotNull();
        assertThat(run("get", "pod", "thing", "-n", "shop").text()).contains("Terminating");

        assertThat(run("delete", "pod", "thing", "-n", "shop", "--force", "--grace-period=0")
                        .exitCode())
                .isZero();
        assertThat(run("get", "pod", "thing", "-n", "shop").text()).contains("NotFound");
    }

    @Test
    void delete_podOnANodeWithWaiting_returnsWhenItIsGone() throws Exception {
        apply("pods", "one");
        run("patch", "pod", "thing", "-n", "shop", "-p", "{\"spec\":{\"nodeName\":\"worker-1\"}}");
        Process deleting = new ProcessBuilder(command("delete", "pod", "thing", "-n", "shop"))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("delete.txt").toFile())
                .start();
        processes.add(deleting);
        await().until(() -> server.openWatches() == 1);

        cluster.delete(Resource.PODS, ObjectKey.of("shop", "thing"), DeleteOptions.NOW);

        assertThat(deleting.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(deleting.exitValue()).isZero();
    }

    private Output apply(String resource, String value) throws IOException, InterruptedException {
        Output output =
                run("apply", "--validate=false", "-f", manifest(resource, value).toString());
        assertThat(output.exitCode()).as(output.text()).isZero();
        return output;
    }

    private Path manifest(String resource, String value) throws IOException {
        Path file = directory.resolve(resource + ".yaml");
        String written = resource.equals("secrets") ? BASE64.get(value) : value;
        return Files.writeString(file, MANIFESTS.getOrDefault(resource, "").replace("VALUE", String.valueOf(written)));
    }

    /** kubectl sends no token over plain HTTP; the URL in the kubeconfig says who it is. */
    @Test
    void authorization_ofAUserWithARole_isWhatKubectlSays() throws Exception {
        cluster.create(Secrets.of("shop", "db", "v1"));
        try (EmbeddedApiServer guarded =
                EmbeddedApiServer.builder(cluster).rbac().start()) {
            Path admin =
                    Files.writeString(directory.resolve("admin"), guarded.kubeconfigFor("admin", "system:masters"));
            Path jane = Files.writeString(directory.resolve("jane"), guarded.kubeconfigFor("jane"));
            String[] role = {
                "create", "role", "reader", "-n", "shop", "--verb=get", "--resource=secrets", "--resource-name=db"
            };

            assertThat(as(jane, role).text()).contains("User \"jane\" cannot create resource \"roles\"");
            assertThat(as(admin, role).text()).contains("role.rbac.authorization.k8s.io/reader created");
            assertThat(as(admin, "create", "serviceaccount", "web", "-n", "shop")
                            .text())
                    .contains("serviceaccount/web created");
            assertThat(as(
                                    admin,
                                    "create",
                                    "rolebinding",
                                    "reader",
                                    "-n",
                                    "shop",
                                    "--role=reader",
                                    "--user=jane",
                                    "--serviceaccount=shop:web")
                            .text())
                    .contains("rolebinding.rbac.authorization.k8s.io/reader created");
            assertThat(as(
                                    admin,
                                    "auth",
                                    "can-i",
                                    "get",
                                    "secrets/db",
                                    "-n",
                                    "shop",
                                    "--as=system:serviceaccount:shop:web")
                            .text())
                    .startsWith("yes");
            assertThat(as(jane, "auth", "can-i", "get", "/version").text()).startsWith("yes");
            assertThat(as(admin, "create", "clusterrole", "paths", "--verb=get", "--non-resource-url=/metrics")
                            .text())
                    .contains("created");
            assertThat(as(jane, "auth", "can-i", "get", "secrets/db", "-n", "shop")
                            .text())
                    .startsWith("yes");
            assertThat(as(jane, "auth", "can-i", "list", "secrets", "-n", "shop")
                            .text())
                    .startsWith("no");
            assertThat(as(admin, "auth", "can-i", "get", "secrets/other", "-n", "shop", "--as=jane")
                            .text())
                    .startsWith("no");
            assertThat(as(jane, "get", "secret", "db", "-n", "shop").text()).contains("Opaque");
            assertThat(as(jane, "get", "secrets", "-n", "shop").text())
                    .contains("User \"jane\" cannot list resource \"secrets\"");
        }
    }

    private Output as(Path kubeconfig, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                kubectl.toString(), "--kubeconfig=" + kubeconfig, "--cache-dir=" + directory.resolve("own-cache")));
        command.addAll(List.of(arguments));
        return run(command);
    }

    private Output run(String... arguments) throws IOException, InterruptedException {
        return run(command(arguments));
    }

    private Output run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        processes.add(process);
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Output(process.exitValue(), text);
    }

    private List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                kubectl.toString(),
                "--server=" + server.url(),
                "--kubeconfig=/dev/null",
                "--cache-dir=" + directory.resolve("cache")));
        command.addAll(List.of(arguments));
        return command;
    }
}
