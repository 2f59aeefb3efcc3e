package dev.podcache.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.BaseEncoding;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeDiagnosesTest {

    private static final Instant NOW = Instant.parse("2026-07-01T12:00:00Z");

    private final NodeDiagnoses worker = new NodeDiagnoses("worker-1");

    private static Node node(String ready, boolean cordoned) {
        return new NodeBuilder()
                .withNewSpec()
                .withUnschedulable(cordoned)
                .endSpec()
                .withNewStatus()
                .addNewCondition()
                .withType("Ready")
                .withStatus(ready)
                .withMessage("Kubelet stopped posting node status.")
                .endCondition()
                .endStatus()
                .build();
    }

    private static Lease renewed(Duration ago) {
        return new LeaseBuilder()
                .withNewSpec()
                .withLeaseDurationSeconds(40)
                .withRenewTime(NOW.minus(ago).atZone(ZoneOffset.UTC))
                .endSpec()
                .build();
    }

    private static CertificateSigningRequestBuilder request(String user, String subject) {
        String der = BaseEncoding.base64().encode(("CN" + subject).getBytes(StandardCharsets.ISO_8859_1));
        String pem = "-----BEGIN CERTIFICATE REQUEST-----\n" + der + "\n-----END CERTIFICATE REQUEST-----\n";
        return new CertificateSigningRequestBuilder()
                .withNewMetadata()
                .withName("csr-1")
                .endMetadata()
                .withNewSpec()
                .withUsername(user)
                .withRequest(BaseEncoding.base64().encode(pem.getBytes(StandardCharsets.US_ASCII)))
                .endSpec();
    }

    private static CertificateSigningRequest with(CertificateSigningRequestBuilder request, String condition) {
        return request.withNewStatus()
                .addNewCondition()
                .withType(condition)
                .withMessage("not one of ours")
                .endCondition()
                .endStatus()
                .build();
    }

    @Test
    void registration_noNode_isAProblem() {
        Diagnosis found = worker.registration(null);

        assertThat(found.isProblem()).isTrue();
        assertThat(found.what()).isEqualTo("there is no Node worker-1");
        assertThat(found.remedy()).contains("podcache run --node worker-1");
    }

    @ParameterizedTest
    @CsvSource({"True, false, OK", "True, true, NOTE", "False, false, PROBLEM", "Unknown, true, PROBLEM"})
    void registration_conditionOfTheNode_decides(String ready, boolean cordoned, Diagnosis.Level level) {
        assertThat(worker.registration(node(ready, cordoned)).level()).isEqualTo(level);
    }

    @Test
    void registration_nodeWithoutStatus_isNotReady() {
        assertThat(worker.registration(new NodeBuilder().build()).what()).contains("not Ready (not reported)");
    }

    @ParameterizedTest
    @CsvSource({"40, OK", "41, PROBLEM", "0, OK", "-5, OK"})
    void lease_age_isComparedWithItsDuration(long seconds, Diagnosis.Level level) {
        assertThat(worker.lease(renewed(Duration.ofSeconds(seconds)), NOW).level())
                .isEqualTo(level);
    }

    @Test
    void lease_missingOrNeverRenewed_isAProblem() {
        assertThat(worker.lease(null, NOW).isProblem()).isTrue();
        assertThat(worker.lease(new LeaseBuilder().withNewSpec().endSpec().build(), NOW)
                        .isProblem())
                .isTrue();
    }

    @Test
    void certificates_requestOfABootstrapTokenWaits_isAProblemThatNamesTheCommand() {
        List<Diagnosis> found = worker.certificates(List.of(
                request("system:bootstrap:abcdef", "system:node:worker-1").build()));

        assertThat(found).singleElement().satisfies(each -> {
            assertThat(each.isProblem()).isTrue();
            assertThat(each.remedy()).contains("kubectl certificate approve csr-1");
        });
    }

    @Test
    void certificates_denied_isAProblemWithItsMessage() {
        assertThat(worker.certificates(List.of(with(request("system:node:worker-1", ""), "Denied"))))
                .singleElement()
                .satisfies(each -> assertThat(each.what()).contains("is Denied (not one of ours)"));
    }

    @Test
    void certificates_approvedWithoutCertificate_blamesTheSigner() {
        assertThat(worker.certificates(List.of(with(request("system:node:worker-1", ""), "Approved"))))
                .singleElement()
                .satisfies(each -> assertThat(each.remedy()).contains("kube-controller-manager"));
    }

    /** Kubernetes approves none by itself, and a node whose agent has another one does not need it. */
    @Test
    void certificates_requestForAServingCertificateWaits_isNoProblem() {
        CertificateSigningRequest serving = request("system:node:worker-1", "")
                .editSpec()
                .withSignerName("kubernetes.io/kubelet-serving")
                .endSpec()
                .build();

        assertThat(worker.certificates(List.of(serving)))
                .singleElement()
                .satisfies(each -> assertThat(each.level()).isEqualTo(Diagnosis.Level.OK));
    }

    @ParameterizedTest
    @CsvSource({"2026-07-01T10:00:01Z, OK", "2026-07-01T09:59:59Z, PROBLEM"})
    void certificates_deniedAndAnotherWasIssued_isAProblemUnlessThatCameLater(String issuedAt, Diagnosis.Level level) {
        CertificateSigningRequest denied =
                createdAt(with(request("system:node:worker-1", ""), "Denied"), "2026-07-01T10:00:00Z");
        CertificateSigningRequest issued = createdAt(with(request("system:node:worker-1", ""), "Approved"), issuedAt);
        issued.getStatus().setCertificate("LS0tLS1CRUdJTg==");

        assertThat(worker.certificates(List.of(issued, denied)))
                .singleElement()
                .satisfies(each -> assertThat(each.level()).isEqualTo(level));
    }

    private static CertificateSigningRequest createdAt(CertificateSigningRequest request, String time) {
        request.getMetadata().setCreationTimestamp(time);
        return request;
    }

    @ParameterizedTest
    @CsvSource({
        "system:node:worker-2, system:node:worker-2",
        "system:bootstrap:abcdef, system:node:worker-10",
        "system:bootstrap:abcdef, system:node:worker-1.example",
        "system:bootstrap:abcdef, system:node:worker"
    })
    void certificates_ofAnotherNode_areNotLookedAt(String user, String subject) {
        assertThat(worker.certificates(List.of(request(user, subject).build())))
                .singleElement()
                .satisfies(each -> assertThat(each.level()).isEqualTo(Diagnosis.Level.OK));
    }

    @Test
    void certificates_notARequest_isIgnored() {
        CertificateSigningRequest broken = request("somebody", "").build();
        broken.getSpec().setRequest("%%%");

        assertThat(worker.certificates(List.of(broken))).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "FORBIDDEN, NOTE, nodes/proxy",
        "UNAUTHORIZED, PROBLEM, --client-ca-file",
        "UNAVAILABLE, PROBLEM, firewalls"
    })
    void endpoint_failure_hasItsRemedy(FailureReason reason, Diagnosis.Level level, String remedy) {
        Diagnosis found = worker.endpoint(ApiServerException.withoutAnswer(reason, "GET /healthz", "refused", null));

        assertThat(found.level()).isEqualTo(level);
        assertThat(found.remedy()).contains(remedy);
        assertThat(worker.endpoint(null).level()).isEqualTo(Diagnosis.Level.OK);
    }
}
