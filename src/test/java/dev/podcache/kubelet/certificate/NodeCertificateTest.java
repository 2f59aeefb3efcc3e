package dev.podcache.kubelet.certificate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.kubelet.certificate.CertificateRequestException.Reason;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class NodeCertificateTest {

    private static final Duration YEAR = Duration.ofDays(365);

    @TempDir
    private Path directory;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeSigningApi api = new FakeSigningApi();
    private final List<String> progress = new ArrayList<>();

    @AfterEach
    void stopTime() {
        assertThat(api.openWatches()).isLessThanOrEqualTo(1);
        time.close();
    }

    private NodeCertificate certificate() {
        return NodeCertificate.of("edge-1", directory);
    }

    private CompletableFuture<X509Certificate> request() {
        return certificate().request(api.requests(time), progress::add);
    }

    private Instant now() {
        return time.wallTime();
    }

    private static CertificateRequestException failureOf(CompletableFuture<?> request) {
        assertThat(request).isCompletedExceptionally();
        try {
            request.join();
            throw new AssertionError("it succeeded");
        } catch (CompletionException e) {
            return (CertificateRequestException) NoLeaks.saw(ApiServerException.causeOf(e));
        }
    }

    @Test
    void request_signed_isStoredWithItsKeyAndNothingIsLeft() throws IOException {
        CompletableFuture<X509Certificate> request = request();

        api.sign(api.latest(), now(), now().plus(YEAR));

        assertThat(request.join().getSubjectX500Principal().getName())
                .contains("CN=system:node:edge-1", "O=system:nodes");
        assertThat(certificate().validAt(now())).contains(request.join());
        assertThat(certificate().validAt(now().plus(YEAR))).isEmpty();
        assertThat(PemText.privateKey(Files.readString(certificate().file()))).isNotEmpty();
        assertThat(api.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
        assertThat(directory.resolve("kubelet-client.key.tmp")).doesNotExist();
    }

    @Test
    void request_pending_saysEveryMinuteHowToApproveIt() {
        CompletableFuture<X509Certificate> request = request();

        time.advance(Duration.ofSeconds(121));

        assertThat(request).isNotDone();
        assertThat(progress)
                .hasSize(3)
                .allMatch(line -> line.contains("`kubectl certificate approve " + api.latest() + "`"));
    }

    @Test
    void request_approvedOnly_saysThatTheSignerIsMissing() {
        CompletableFuture<X509Certificate> request = request();

        api.decide(api.latest(), "Approved", "", "");

        assertThat(request).isNotDone();
        assertThat(progress.get(1)).contains("approved but not signed yet", "--cluster-signing-cert-file");
    }

    @Test
    void request_denied_failsWithReasonAndRemedy() {
        CompletableFuture<X509Certificate> request = request();

        api.decide(api.latest(), "Denied", "NotOurs", "who is\nedge-1");

        assertThat(failureOf(request).reason()).isEqualTo(Reason.DENIED);
        assertThat(failureOf(request))
                .hasMessageContaining("was denied (NotOurs: who is edge-1)")
                .hasMessageContaining("`kubectl delete csr " + api.latest() + "`");
        assertThat(api.openWatches()).isZero();
    }

    @Test
    void request_deniedBeforeARestart_isTheSameRequestAndStillDenied() {
        CompletableFuture<X509Certificate> before = request();
        api.decide(api.latest(), "Denied", "NotOurs", "");
        assertThat(before).isCompletedExceptionally();

        CompletableFuture<X509Certificate> after = request();

        assertThat(failureOf(after).reason()).isEqualTo(Reason.DENIED);
        assertThat(api.created()).hasSize(1);
    }

    @Test
    void request_ofAnEarlierStart_isTakenUp() {
        CompletableFuture<X509Certificate> lost = request();
        assertThat(lost).isNotDone();

        CompletableFuture<X509Certificate> again = request();
        api.sign(api.latest(), now(), now().plus(YEAR));

        assertThat(again).isCompleted();
        assertThat(api.created()).hasSize(1);
    }

    @Test
    void request_signerFailed_failsWithReasonAndRemedy() {
        CompletableFuture<X509Certificate> request = request();

        api.decide(api.latest(), "Approved", "", "");
        api.decide(api.latest(), "Failed", "NoKey", "the key is gone");

        assertThat(failureOf(request).reason()).isEqualTo(Reason.FAILED);
        assertThat(failureOf(request))
                .hasMessageContaining("could not be signed (NoKey: the key is gone)")
                .hasMessageContaining("kube-controller-manager");
    }

    @Test
    void request_notApprovedFor15Minutes_isReplacedByOneWithANewKey() {
        CompletableFuture<X509Certificate> request = request();
        String first = api.latest();

        time.advance(Duration.ofMinutes(15));

        assertThat(api.created()).hasSize(2);
        assertThat(api.latest()).isNotEqualTo(first);
        assertThat(progress).anyMatch(line -> line.contains(first + " was not approved and signed within 15 min"));
        api.sign(api.latest(), now(), now().plus(YEAR));
        assertThat(request).isCompleted();
    }

    @Test
    void request_deleted_isCreatedAgain() {
        CompletableFuture<X509Certificate> request = request();

        api.delete(api.latest());
        time.advance(Duration.ofSeconds(2));

        assertThat(api.created()).hasSize(2);
        assertThat(api.latest()).isEqualTo(api.created().get(0));
        assertThat(progress).anyMatch(line -> line.contains("was deleted before it was signed; it was created again"));
        api.sign(api.latest(), now(), now().plus(YEAR));
        assertThat(request).isCompleted();
    }

    @Test
    void certificate_ofAnotherKey_isRefused() {
        CompletableFuture<X509Certificate> request = request();

        api.sign(api.latest(), api.pemWithAnotherKey(api.latest(), now().plus(YEAR)));

        assertThat(failureOf(request).reason()).isEqualTo(Reason.UNUSABLE);
        assertThat(failureOf(request))
                .hasMessageContaining("another public key")
                .hasMessageContaining("check the signer");
        assertThat(certificate().validAt(now())).isEmpty();
    }

    @Test
    void certificate_alreadyExpired_isRefused() {
        CompletableFuture<X509Certificate> request = request();

        api.sign(api.latest(), now().minus(YEAR), now().minusSeconds(1));

        assertThat(failureOf(request)).hasMessageContaining("it expired at").hasMessageContaining("clocks");
    }

    @Test
    void certificate_thatIsNoPem_isRefused() {
        CompletableFuture<X509Certificate> request = request();

        api.sign(api.latest(), "nonsense");

        assertThat(failureOf(request).reason()).isEqualTo(Reason.UNUSABLE);
    }

    @ParameterizedTest
    @CsvSource({
        "UNAUTHORIZED, UNAUTHORIZED, kubeadm token create",
        "FORBIDDEN, FORBIDDEN, --clusterrole=system:node-bootstrapper --group=system:bootstrappers",
        "NOT_FOUND, REFUSED, certificates.k8s.io/v1"
    })
    void creation_refused_failsAtOnceAndSaysWhatToDo(FailureReason answer, Reason reason, String remedy) {
        api.failCreations(answer);

        CompletableFuture<X509Certificate> request = request();

        assertThat(failureOf(request).reason()).isEqualTo(reason);
        assertThat(failureOf(request)).hasMessageContaining(remedy);
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void server_unreachable_isSaidOnceAndTriedAgain() {
        api.failCreations(FailureReason.UNAVAILABLE);
        CompletableFuture<X509Certificate> request = request();
        time.advance(Duration.ofMinutes(2));
        assertThat(progress).singleElement().asString().contains("as the test says; retrying");

        api.failCreations(null);
        time.advance(Duration.ofSeconds(30));
        api.sign(api.latest(), now(), now().plus(YEAR));

        assertThat(request).isCompleted();
    }

    @Test
    void directory_ofAnotherNode_isLeftAlone() throws IOException {
        CompletableFuture<X509Certificate> other =
                NodeCertificate.of("other", directory).request(api.requests(time), progress::add);
        api.sign(api.latest(), now(), now().plus(YEAR));
        assertThat(other).isCompleted();
        String before = Files.readString(certificate().file());

        CompletableFuture<X509Certificate> request = request();

        assertThat(failureOf(request).reason()).isEqualTo(Reason.FILES);
        assertThat(failureOf(request))
                .hasMessageContaining("CN=system:node:other")
                .hasMessageContaining("--cert-dir");
        assertThat(api.created()).hasSize(1);
        assertThat(Files.readString(certificate().file())).isEqualTo(before);
        assertThat(certificate().validAt(now())).isEmpty();
    }

    @Test
    void store_certificateWithoutItsKey_isRefused() {
        assertThat(request()).isNotDone();
        String pem = api.pem(api.latest(), now(), now().plus(YEAR));
        String anotherKey = KeyPairs.pem(KeyPairs.newPair().getPrivate());

        assertThatThrownBy(() -> certificate().store(pem + anotherKey, now()))
                .isInstanceOf(CertificateRequestException.class)
                .hasMessageContaining("the key is not the key of the certificate");
    }

    @Test
    void name_thatIsNotLegal_isRefused() {
        assertThatThrownBy(() -> NodeCertificate.of("Edge_1", directory)).isInstanceOf(IllegalArgumentException.class);
    }
}
