package dev.podcache.kubelet.staticpods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.pod.PodOrigin;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Toleration;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PodManifestTest {

    private static final Path FILE = Path.of("/etc/kubernetes/manifests/web.yaml");

    private static final String WEB = """
            apiVersion: v1
            kind: Pod
            metadata:
              name: web
            spec:
              containers:
              - name: main
                image: nginx:1.27
            """;

    private static Pod parse(String text) {
        return PodManifest.parse(text.getBytes(StandardCharsets.UTF_8), FILE, "Worker-1");
    }

    @Test
    void parse_shortestPod_isCompleteAsAStaticPodOfItsNode() {
        Pod pod = parse(WEB);

        assertThat(pod.getMetadata().getName()).isEqualTo("web-worker-1");
        assertThat(pod.getMetadata().getNamespace()).isEqualTo("default");
        assertThat(pod.getSpec().getNodeName()).isEqualTo("Worker-1");
        assertThat(pod.getMetadata().getUid()).matches("[0-9a-f]{32}");
        assertThat(pod.getMetadata().getAnnotations())
                .containsEntry("kubernetes.io/config.hash", pod.getMetadata().getUid())
                .containsEntry("kubernetes.io/config.source", "file");
        assertThat(pod.getStatus().getPhase()).isEqualTo("Pending");
        assertThat(pod.getSpec().getTolerations())
                .extracting(Toleration::getOperator, Toleration::getEffect, Toleration::getKey)
                .containsExactly(tuple("Exists", "NoExecute", null));
        assertThat(PodOrigin.isStatic(pod)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"initContainers", "tolerations", "volumes", "imagePullSecrets", "hostAliases"})
    void parse_emptyField_isAbsent(String field) {
        assertThat(parse(WEB + "  " + field + ":\n").getSpec().getContainers()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ports", "env", "envFrom", "volumeMounts"})
    void parse_emptyFieldOfAContainer_isAbsent(String field) {
        assertThat(parse(WEB + "    " + field + ":\n").getSpec().getContainers())
                .hasSize(1);
    }

    @Test
    void parse_containerThatIsNull_isRefused() {
        assertThatThrownBy(() -> parse(WEB + "  - ~\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a container of the pod has no name");
    }

    @Test
    void parse_annotationThatIsNull_isEmpty() {
        Pod pod = parse(WEB.replace("name: web", "name: web\n  annotations: {a: null, b: x}"));

        assertThat(pod.getMetadata().getAnnotations()).containsEntry("a", "").containsEntry("b", "x");
    }

    @Test
    void parse_shortestPod_hasTheDefaultsOfAnApiServer() {
        Pod pod = parse(WEB + """
                    ports: [{containerPort: 80}]
                    resources: {limits: {cpu: 1, memory: 64Mi}, requests: {cpu: 100m}}
                    readinessProbe: {httpGet: {port: 80}}
                  volumes:
                  - name: scratch
                  - name: info
                    downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}
                """);

        assertThat(pod.getSpec().getRestartPolicy()).isEqualTo("Always");
        assertThat(pod.getSpec().getTerminationGracePeriodSeconds()).isEqualTo(30);
        assertThat(pod.getSpec().getEnableServiceLinks()).isTrue();
        Container main = pod.getSpec().getContainers().get(0);
        assertThat(main.getImagePullPolicy()).isEqualTo("IfNotPresent");
        assertThat(main.getPorts().get(0).getProtocol()).isEqualTo("TCP");
        assertThat(main.getResources().getRequests())
                .containsEntry("cpu", new Quantity("100m"))
                .containsEntry("memory", new Quantity("64Mi"));
        assertThat(main.getReadinessProbe().getPeriodSeconds()).isEqualTo(10);
        assertThat(main.getReadinessProbe().getHttpGet().getPath()).isEqualTo("/");
        assertThat(pod.getSpec().getVolumes().get(0).getEmptyDir()).isNotNull();
        assertThat(pod.getSpec().getVolumes().get(1).getDownwardAPI().getDefaultMode())
                .isEqualTo(0644);
    }

    @Test
    void parse_limitsOfThePod_areItsRequestsUnlessItsContainersRequestSome() {
        Pod pod = parse(WEB + """
                    resources: {requests: {cpu: 100m}, limits: {hugepages-2Mi: 4Mi}}
                  - name: sidecar
                    image: envoy:1
                    resources: {limits: {cpu: 250m}}
                  resources: {limits: {cpu: 1, memory: 64Mi, hugepages-2Mi: 8Mi}}
                """);

        assertThat(pod.getSpec().getResources().getRequests())
                .containsOnly(
                        entry("cpu", new Quantity("350m")),
                        entry("memory", new Quantity("64Mi")),
                        entry("hugepages-2Mi", new Quantity("8Mi")));
    }

    @Test
    void parse_requestsOfThePod_areKept() {
        Pod pod = parse(WEB + """
                    resources: {requests: {cpu: 100m, memory: 16Mi}}
                  resources: {requests: {cpu: 500m}, limits: {cpu: 1}}
                """);

        assertThat(pod.getSpec().getResources().getRequests())
                .containsOnly(entry("cpu", new Quantity("500m")), entry("memory", new Quantity("16Mi")));
    }

    @Test
    void parse_containersRequestZero_isTheRequestOfThePod() {
        Pod pod = parse(WEB + """
                    resources: {requests: {cpu: 0}}
                  resources: {limits: {cpu: 1}}
                """);

        assertThat(pod.getSpec().getResources().getRequests()).containsOnly(entry("cpu", new Quantity("0")));
    }

    @Test
    void parse_podWithoutLimits_getsNoRequests() {
        Pod pod = parse(WEB + """
                    resources: {requests: {cpu: 100m, memory: 16Mi}}
                  resources: {requests: {cpu: 500m}}
                """);

        assertThat(pod.getSpec().getResources().getRequests()).containsOnlyKeys("cpu");
        assertThat(parse(WEB).getSpec().getResources()).isNull();
    }

    @Test
    void parse_octalMode_isRead() {
        Pod pod = parse(WEB + """
                  volumes:
                  - name: info
                    downwardAPI: {defaultMode: 0600, items: []}
                """);

        assertThat(pod.getSpec().getVolumes().get(0).getDownwardAPI().getDefaultMode())
                .isEqualTo(0600);
    }

    @Test
    void parse_commentsAndOrder_doNotChangeTheUid() {
        String uid = parse(WEB).getMetadata().getUid();

        assertThat(parse("# new\nkind: Pod\n" + WEB.replace("kind: Pod\n", "") + "---\n")
                        .getMetadata()
                        .getUid())
                .isEqualTo(uid);
        assertThat(parse("""
                {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},
                 "spec":{"containers":[{"image":"nginx:1.27","name":"main"}]}}""").getMetadata().getUid()).isEqualTo(uid);
    }

    @Test
    void parse_anotherContentFileOrNode_isAnotherUid() {
        String uid = parse(WEB).getMetadata().getUid();

        assertThat(parse(WEB.replace("1.27", "1.28")).getMetadata().getUid()).isNotEqualTo(uid);
        assertThat(PodManifest.parse(WEB.getBytes(StandardCharsets.UTF_8), Path.of("/other.yaml"), "Worker-1")
                        .getMetadata()
                        .getUid())
                .isNotEqualTo(uid);
        assertThat(PodManifest.parse(WEB.getBytes(StandardCharsets.UTF_8), FILE, "worker-2")
                        .getMetadata()
                        .getUid())
                .isNotEqualTo(uid);
    }

    @Test
    void parse_podThatAServerReturned_keepsOnlyWhatDescribesIt() {
        Pod pod = parse("""
                apiVersion: v1
                kind: Pod
                metadata:
                  name: web
                  namespace: kube-system
                  uid: chosen-uid-1
                  labels: {app: web}
                  annotations: {kubernetes.io/config.mirror: old, kubernetes.io/config.source: api, note: kept}
                  resourceVersion: "7"
                  creationTimestamp: "2026-01-01T00:00:00Z"
                  deletionTimestamp: "2026-01-01T00:00:00Z"
                  ownerReferences: [{apiVersion: v1, kind: Node, name: n, uid: u}]
                spec:
                  containers: [{name: main, image: nginx}]
                status: {phase: Failed}
                """);

        assertThat(pod.getMetadata().getUid()).isEqualTo("chosen-uid-1");
        assertThat(pod.getMetadata().getNamespace()).isEqualTo("kube-system");
        assertThat(pod.getMetadata().getLabels()).containsEntry("app", "web");
        assertThat(pod.getMetadata().getAnnotations())
                .containsOnlyKeys("note", PodOrigin.HASH, PodOrigin.SOURCE)
                .containsEntry(PodOrigin.SOURCE, "file");
        assertThat(pod.getMetadata().getResourceVersion()).isNull();
        assertThat(pod.getMetadata().getDeletionTimestamp()).isNull();
        assertThat(pod.getMetadata().getOwnerReferences()).isEmpty();
        assertThat(pod.getStatus().getPhase()).isEqualTo("Pending");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "serviceAccountName: builder | service accounts",
                "imagePullSecrets: [{name: pull}] | Secrets",
                "volumes: [{name: v, secret: {secretName: db}}] | Secrets",
                "volumes: [{name: v, configMap: {name: db}}] | ConfigMaps",
                "volumes: [{name: v, persistentVolumeClaim: {claimName: db}}] | persistent volume claims",
                "volumes: [{name: v, csi: {driver: d}}] | CSI drivers",
                "volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}] | service accounts",
                "initContainers: [{name: i, envFrom: [{secretRef: {name: db}}]}] | Secrets",
                "initContainers: [{name: i, env: [{name: A, valueFrom: {configMapKeyRef: {name: db, key: a}}}]}] | ConfigMaps"
            })
    void parse_objectsOfTheApiServer_areRefusedByKind(String field, String kind) {
        assertThatThrownBy(() -> parse(WEB + "  " + field + "\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("static pods may not refer to " + kind
                        + ", because they must start without an API server: use files of the node");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | it is empty",
                "'# nothing' | it is empty",
                "'a: [' | line 1, column 5: it is neither YAML nor JSON",
                "'- a' | it has kind \"\" of apiVersion \"\": only kind Pod of apiVersion v1 can be a static pod",
                "'{kind: Deployment, apiVersion: apps/v1}' | it has kind \"Deployment\" of apiVersion \"apps/v1\"",
                "'{kind: Pod, apiVersion: v1}' | the pod has no metadata.name",
                "'{kind: Pod, apiVersion: v1, metadata: {name: a}}' | the pod has no spec.containers",
                "'{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {containers: [{image: b}]}}' | a container of the pod has no name",
                "'{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {containers: [{name: b}, {name: b}]}}' | two containers of the pod are named \"b\"",
                "'{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {containers: [{name: b}], ephemeralContainers: [{name: c}]}}' | the pod has spec.ephemeralContainers, which cannot be set on create",
                "'{kind: Pod, apiVersion: v1, metadata: {name: A_b}, spec: {containers: [{name: b}]}}' | \"A_b-worker-1\" is not a legal Kubernetes name",
                "'{kind: Pod, apiVersion: v1, metadata: {name: a, uid: ../up}, spec: {containers: [{name: b}]}}' | metadata.uid \"../up\" must have at most 63 letters, digits and dashes"
            })
    void parse_noPod_isRefusedWithTheReason(String text, String reason) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void parse_twoDocuments_areRefused() {
        assertThatThrownBy(() -> parse(WEB + "---\n" + WEB))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("it has more than one document: write a file for each pod");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "  hostNetwork: " + NoLeaks.CANARY,
                "  activeDeadlineSeconds: " + NoLeaks.CANARY,
                "  volumes: [{name: " + NoLeaks.CANARY,
                "  tolerations: {" + NoLeaks.CANARY + ": b}"
            })
    void parse_wrongType_messageQuotesNoValue(String line) {
        assertThatThrownBy(() -> parse(WEB + line + "\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(NoLeaks.saw(e).getMessage()).doesNotContain(NoLeaks.CANARY));
    }

    /** YAML 1.1 reads them as a number or a boolean; the text that was written is lost. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "env: [{name: MODE, value: 0644}] | env[0].value must be text: put it in quotation marks",
                "env: [{name: A, value: b}, {name: TLS, value: on}] | env[1].value must be text: put it in quotation marks",
                "env: [{name: VERSION, value: 1.10}] | env[0].value must be text: put it in quotation marks",
                "args: [-v, 5] | args[1] must be text: put it in quotation marks",
                "ports: [{containerPort: '80'}] | ports[0].containerPort must be a whole number, without quotation marks",
                "stdin: 'true' | stdin must be true or false, without quotation marks"
            })
    void parse_valueOfAnotherType_isRefused(String field, String complaint) {
        assertThatThrownBy(() -> parse(WEB + "    " + field + "\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("spec.containers[0]." + complaint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'  restartPolicy: never' | spec.restartPolicy must be one of Always, OnFailure, Never",
                "'  dnsPolicy: default' | spec.dnsPolicy must be one of ClusterFirst, ClusterFirstWithHostNet, Default, None",
                "'  initContainers: [{name: i, restartPolicy: always}]' | spec.initContainers[0].restartPolicy must be one of Always,",
                "'    imagePullPolicy: always' | spec.containers[0].imagePullPolicy must be one of Always, IfNotPresent, Never",
                "'    terminationMessagePolicy: Log' | spec.containers[0].terminationMessagePolicy must be one of File,",
                "'    ports: [{containerPort: 80}, {containerPort: 53, protocol: udp}]' | spec.containers[0].ports[1].protocol must be",
                "'  - name: Web_1' | spec.containers[1].name \"Web_1\" must be at most 63 lower-case letters, digits and '-'",
                "'  - name: a/b' | spec.containers[1].name \"a/b\" must be",
                "'  volumes: [{name: v}, {name: ../v}]' | spec.volumes[1].name \"../v\" must be",
                "'  volumes: [{emptyDir: {}}]' | spec.volumes[0].name \"\" must be"
            })
    void parse_wordThatIsNone_isRefused(String field, String complaint) {
        assertThatThrownBy(() -> parse(WEB + field + "\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(complaint);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "  restartPolicy: ''",
                "  restartPolicy: OnFailure",
                "  dnsPolicy: None",
                "  initContainers: [{name: i, restartPolicy: Always}]",
                "    imagePullPolicy: ''",
                "    terminationMessagePolicy: FallbackToLogsOnError",
                "    ports: [{containerPort: 53, protocol: UDP}]"
            })
    void parse_word_isRead(String field) {
        assertThat(parse(WEB + field + "\n").getSpec().getContainers()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "resources: {limits: {cpu: 1, memory: 0.5}}",
                "livenessProbe: {httpGet: {port: 80}}",
                "livenessProbe: {httpGet: {port: http}, periodSeconds: 10.0}",
                "env: [{name: A, value: ~}]"
            })
    void parse_valueOfSeveralTypes_isRead(String field) {
        assertThat(parse(WEB + "    " + field + "\n").getSpec().getContainers()).hasSize(1);
    }

    @Test
    void parse_wrongType_namesTheField() {
        assertThatThrownBy(() -> parse(WEB + "  activeDeadlineSeconds: soon\n"))
                .hasMessage("spec.activeDeadlineSeconds has the wrong type");
        assertThatThrownBy(() -> parse(WEB + "    ports: [{containerPort: 80.5}]\n"))
                .hasMessage("spec.containers[0].ports[0].containerPort has the wrong type");
    }
}
