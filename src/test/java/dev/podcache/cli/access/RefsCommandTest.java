package dev.podcache.cli.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.testing.NoLeaks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class RefsCommandTest {

    private static final String POD = """
            apiVersion: v1
            kind: Pod
            metadata: {name: web, namespace: shop}
            spec:
              automountServiceAccountToken: false
              containers:
              - name: main
                envFrom: [{configMapRef: {name: settings, optional: true}}]
              volumes:
              - {name: certificate, secret: {secretName: cert}}
            """;

    private static final String TEMPLATE =
            "spec: {automountServiceAccountToken: false, imagePullSecrets: [{name: registry}]}";

    private final CapturedConsole console = new CapturedConsole(Path.of(""));

    @TempDir
    private Path folder;

    @Test
    void refs_podInAFile_isItsReferencesWithTheirPaths() throws IOException {
        Path file = Files.writeString(folder.resolve("pod.yaml"), POD);

        int code = console.execute("refs", "-f", file.toString());

        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        assertThat(console.out())
                .containsExactly(
                        "Pod shop/web",
                        "  Secret     shop/cert      required  spec.volumes[0].secret",
                        "  ConfigMap  shop/settings  optional  spec.containers[0].envFrom[0].configMapRef");
    }

    @Test
    void refs_podThatProjectsTrustBundles_namesThemAndTheirSigners() {
        console.withInput("""
                apiVersion: v1
                kind: Pod
                metadata: {name: web, namespace: shop}
                spec:
                  automountServiceAccountToken: false
                  containers: [{name: main, image: web}]
                  volumes:
                  - name: trust
                    projected:
                      sources:
                      - clusterTrustBundle: {name: roots, path: b.pem}
                      - clusterTrustBundle: {signerName: example.com/signer, labelSelector: {}, path: c.pem}
                """).execute("refs", "-f", "-");

        assertThat(console.out())
                .containsExactly(
                        "Pod shop/web",
                        "  ClusterTrustBundle  roots",
                        "  ClusterTrustBundle  of signer example.com/signer");
    }

    @Test
    void refs_nameWithALineBreak_isPrintedOnOneLine() {
        console.withInput(POD.replace("secretName: cert", "secretName: \"cert\\nPod forged\""))
                .execute("refs", "-f", "-");

        assertThat(console.out()).hasSize(3).noneMatch(line -> line.startsWith("Pod forged"));
    }

    @Test
    void refs_json_isOneObjectAReference() {
        int code = console.withInput(POD).execute("refs", "-f", "-", "-o", "json");

        assertThat(code).isZero();
        List<JsonNode> lines =
                console.out().stream().map(RecordedOutput::parsed).toList();
        assertThat(lines).hasSize(2);
        JsonNode secret = lines.get(0);
        assertThat(secret.path("event").asText()).isEqualTo("reference");
        assertThat(secret.path("pod").asText()).isEqualTo("Pod shop/web");
        assertThat(secret.path("kind").asText()).isEqualTo("Secret");
        assertThat(secret.path("namespace").asText()).isEqualTo("shop");
        assertThat(secret.path("name").asText()).isEqualTo("cert");
        assertThat(secret.path("usage").asText()).isEqualTo("VOLUME");
        assertThat(secret.path("optional").asBoolean()).isFalse();
        assertThat(secret.path("path").asText()).isEqualTo("spec.volumes[0].secret");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "PodTemplate | template: {TEMPLATE} | template.spec",
                "Deployment | spec: {template: {TEMPLATE}} | spec.template.spec",
                "StatefulSet | spec: {template: {TEMPLATE}} | spec.template.spec",
                "DaemonSet | spec: {template: {TEMPLATE}} | spec.template.spec",
                "ReplicaSet | spec: {template: {TEMPLATE}} | spec.template.spec",
                "ReplicationController | spec: {template: {TEMPLATE}} | spec.template.spec",
                "Job | spec: {template: {TEMPLATE}} | spec.template.spec",
                "CronJob | spec: {jobTemplate: {spec: {template: {TEMPLATE}}}} | spec.jobTemplate.spec.template.spec"
            })
    void refs_workload_isThatOfItsTemplate(String kind, String fields, String path) {
        String manifest = "{kind: " + kind + ", metadata: {name: web}, " + fields.replace("TEMPLATE", TEMPLATE) + "}";

        int code = console.withInput(manifest).execute("refs", "-f", "-", "-n", "shop");

        assertThat(code).isZero();
        assertThat(console.out())
                .containsExactly(
                        kind + " shop/web", "  Secret     shop/registry  optional  " + path + ".imagePullSecrets[0]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PodTemplate",
                "Deployment",
                "StatefulSet",
                "DaemonSet",
                "ReplicaSet",
                "ReplicationController",
                "Job",
                "CronJob"
            })
    void refs_help_namesTheKindsThatAreRead(String kind) {
        console.execute("refs", "--help");

        assertThat(String.join(" ", console.out())).contains(" " + kind + "s");
    }

    @Test
    void refs_severalDocumentsAndLists_areAllRead() {
        String service = "kind: Service\nmetadata: {name: web}\n";
        String list = "{kind: List, items: [{kind: Pod, metadata: {generateName: job-}, spec: {}}]}";

        int code =
                console.withInput(POD + "---\n---\n" + service + "---\n" + list).execute("refs", "-f", "-");

        assertThat(code).isZero();
        assertThat(console.out())
                .hasSize(5)
                .endsWith(
                        "Pod default/job-",
                        "  ConfigMap  default/kube-root-ca.crt  required  added by the API server, in the volume"
                                + " kube-api-access");
    }

    /** As the Jobs of Volcano, whose pods are elsewhere. */
    @Test
    void refs_kindOfAnotherGroupWithoutATemplate_isSkippedAsAService() {
        String job = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: train}, spec: {tasks: []}}\n";
        String list = "{apiVersion: batch.volcano.sh/v1alpha1, kind: JobList, items: [{metadata: {name: train}}]}\n";

        int code = console.withInput(POD + "---\n" + job + "---\n" + list).execute("refs", "-f", "-");

        assertThat(console.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(console.out()).hasSize(3).first().isEqualTo("Pod shop/web");
    }

    @Test
    void refs_kindOfAnotherGroupWithATemplate_isThatOfItsTemplate() {
        String set = "{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, metadata: {name: web}, spec: {template: {"
                + TEMPLATE + "}}}";

        console.withInput(set).execute("refs", "-f", "-");

        assertThat(console.out())
                .containsExactly(
                        "StatefulSet default/web",
                        "  Secret     default/registry  optional  spec.template.spec.imagePullSecrets[0]");
    }

    /** An API server leaves kind and version out of the items of such a list. */
    @Test
    void refs_listOfOneKind_itsItemsAreOfThatKind() {
        String list = "{apiVersion: v1, kind: PodList, items: [{metadata: {name: web}, spec:"
                + " {automountServiceAccountToken: false}}]}";

        int code = console.withInput(list).execute("refs", "-f", "-");

        assertThat(console.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(console.out()).containsExactly("Pod default/web: no references");
    }

    @Test
    void refs_podOfTheServerWithItsTokenVolume_namesTheRootCertificateOnce() {
        String pod = """
                {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"volumes": [{"name": "kube-api-access-x",
                "projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}}]}}""";

        console.withInput(pod).execute("refs", "-f", "-");

        assertThat(console.out())
                .containsExactly(
                        "Pod default/web",
                        "  ConfigMap  default/kube-root-ca.crt  required  spec.volumes[0].projected.sources[0].configMap");
    }

    @Test
    void refs_podWithoutReferences_isSaid() {
        String pod = "{kind: Pod, metadata: {name: web}, spec: {automountServiceAccountToken: false}}";

        int code = console.withInput(pod).execute("refs", "-f", "-");

        assertThat(code).isZero();
        assertThat(console.out()).containsExactly("Pod default/web: no references");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'a: [' | manifest standard input line 1, column 5: it is neither YAML nor JSON",
                "'kind: Service' | manifest - has no pod: give one with a Pod, Deployment",
                "'' | manifest - has no pod",
                "'{kind: Pod, spec: {}}' | a Pod has no metadata.name",
                "'{kind: Pod, metadata: {name: Web_1}, spec: {}}' | Pod: name \"Web_1\" is not a legal Kubernetes name",
                "'{kind: Job, metadata: {name: web}}' | Job default/web: spec.template.spec is missing",
                "'{apiVersion: batch/v1, kind: Job, metadata: {name: web}}' | Job default/web: spec.template.spec is missing",
                "'{kind: Pod, metadata: {name: web}, spec: {volumes: canary}}' | Pod default/web: spec.volumes has a value",
                "'{kind: Pod, metadata: {name: web}, spec: {volumes: [{name: v, secret: {secretName: 0123}}]}}'"
                        + " | Pod default/web: spec.volumes[0].secret.secretName must be text: put it in quotation marks",
                "'{kind: Pod, metadata: {name: web}, spec: {volumes: [{name: v, secret: {secretName: yes}}]}}'"
                        + " | Pod default/web: spec.volumes[0].secret.secretName must be text: put it in quotation marks",
                "'{kind: Pod, metadata: {name: web}, spec: {volumes: [{name: v, secret: {optional: \"true\"}}]}}'"
                        + " | Pod default/web: spec.volumes[0].secret.optional must be true or false"
            })
    void refs_wrongManifest_failsNamingThePlaceAndNoValue(String manifest, String complaint) {
        int code = console.withInput(manifest).execute("refs", "-f", "-");

        assertThat(code).isEqualTo(1);
        assertThat(console.out()).isEmpty();
        assertThat(console.err())
                .singleElement()
                .asString()
                .startsWith("error: " + complaint)
                .doesNotContain("canary");
    }

    @Test
    void refs_missingFile_failsNamingIt() {
        int code = console.execute("refs", "-f", "/nope/pod.yaml");

        assertThat(code).isEqualTo(1);
        assertThat(console.err())
                .containsExactly("error: manifest /nope/pod.yaml does not exist: give the path of a manifest, or - for"
                        + " standard input");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "{\"a\":"})
    void refs_endlesslyNestedManifest_failsNamingTheDepth(String open) {
        int code = console.withInput(open.repeat(100_000)).execute("refs", "-f", "-");

        assertThat(code).isEqualTo(1);
        assertThat(console.err()).singleElement().asString().contains("is nested deeper than 200 levels");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "&a {kind: List, items: [*a]}",
                "{kind: Pod, metadata: {name: web}, spec: &a {volumes: [*a]}}",
                "&a {kind: Pod, metadata: {name: web}, spec: *a}"
            })
    void refs_manifestThatContainsItself_isRefused(String manifest) {
        int code = console.withInput(manifest).execute("refs", "-f", "-");

        assertThat(code).isEqualTo(1);
        assertThat(console.err())
                .singleElement()
                .asString()
                .startsWith("error: manifest standard input line 1, column ")
                .endsWith(": it contains itself through an alias: write it out");
    }

    @Test
    void refs_noManifest_isUsageError() {
        int code = console.execute("refs");

        assertThat(code).isEqualTo(2);
        assertThat(console.err()).first().asString().contains("the manifest is missing: set -f FILE");
    }
}
