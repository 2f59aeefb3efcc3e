package dev.podcache.kubelet.certificate;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.certificate.CertificateRequestException.Reason;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.testing.CertificateSigner;
import dev.podcache.testing.CertificateSigner.SignerDecision;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Requests and rotations as a user and a node that a kube-apiserver lets request certificates. */
@RealServerTest
@Needs({ServerFeature.CERTIFICATES, ServerFeature.RBAC, ServerFeature.SERVICES})
@ExtendWith(NoLeaks.class)
class NodeCertificateRealServerTest {

    private static final int ROTATIONS = 10;

    /** A rotation is due after a second, and nine are left for it. */
    private static final Duration BEFORE = Duration.ofSeconds(20);

    private static final Duration AFTER = Duration.ofSeconds(10);

    @TempDir
    private Path directory;

    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private final String namespace = real.createNamespaceLike("rotated");
    private final String node = namespace;
    private final String group = namespace;
    private final CertificateSigner signer = real.signer(node);
    private final List<String> progress = new CopyOnWriteArrayList<>();
    private final Config bootstrap = real.configFor("newcomer", group);
    private NodeCertificate certificate;

    @BeforeEach
    void allowRequests() {
        certificate = NodeCertificate.of(node, directory);
        ClusterRoleBinding binding = new ClusterRoleBindingBuilder()
                .withNewMetadata()
                .withName("bootstrap-" + node)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "system:node-bootstrapper")
                .addNewSubject("rbac.authorization.k8s.io", "Group", group, null)
                .build();
        admin.resource(binding).create();
    }

    @AfterEach
    void tearDown() {
        admin.rbac().clusterRoleBindings().withName("bootstrap-" + node).delete();
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        admin.nodes().withName(node).delete();
        signer.close();
        admin.close();
    }

    private X509Certificate request() {
        return requestAs(bootstrap);
    }

    private X509Certificate requestAs(Config user) {
        try (Fabric8ApiServer server = Fabric8ApiServer.of(user, RequestLimit.DEFAULT)) {
            CompletableFuture<X509Certificate> request = certificate.request(server, progress::add);
            return request.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
        }
    }

    private Config own() {
        return new ConfigBuilder(bootstrap)
                .withAutoConfigure(false)
                .withClientCertData(null)
                .withClientKeyData(null)
                .withClientCertFile(certificate.file().toString())
                .withClientKeyFile(certificate.file().toString())
                .build();
    }

    private static Reason reasonOf(Throwable thrown) {
        return ((CertificateRequestException) ApiServerException.causeOf(thrown)).reason();
    }

    @Test
    void tenRotations_ofARunningAgent_changeNothingForItsPods(NoLeaks leaks) {
        leaks.allowWarnings("no answer from");
        signer.validity(BEFORE, AFTER);
        Instant firstEnds = request().getNotAfter().toInstant();
        try (Fabric8ApiServer server = Fabric8ApiServer.of(own(), RequestLimit.DEFAULT);
                CertificateRotation rotation = new CertificateRotation(
                        certificate, SigningRequests.at(server), server::rereadCredentials, () -> 0);
                NodeAgent agent =
                        NodeAgent.builder(server).node(node).withoutServer().build()) {
            rotation.start();
            agent.start();
            await().until(() -> agent.status().registered());
            createPod("first", "db");
            for (int rotations = 1; rotations <= ROTATIONS; rotations++) {
                int number = rotations;
                await().until(() -> signer.requests().size() > number);
                admin.resource(Secrets.of(namespace, "db", "v" + number)).createOr(secret -> secret.update());
                await().until(() -> value(agent, "db").equals("v" + number));
            }

            await().until(() -> Instant.now().isAfter(firstEnds));
            createPod("second", "late");
            admin.resource(Secrets.of(namespace, "late", "new")).create();
            await().until(() -> value(agent, "late").equals("new"));
            assertThat(agent.sinceRenewal())
                    .hasValueSatisfying(since -> assertThat(since).isLessThan(Duration.ofSeconds(40)));
            assertThat(rotation.expires())
                    .hasValueSatisfying(end -> assertThat(end).isAfter(firstEnds));
        }
    }

    private void createPod(String name, String secret) {
        PodBuilder pod = new PodBuilder(
                        Pods.withVolume(Pods.assigned(node, name), secret).build())
                .editMetadata()
                .withNamespace(namespace)
                .endMetadata()
                .editSpec()
                .withAutomountServiceAccountToken(false)
                .endSpec();
        admin.resource(pod.build()).create();
    }

    private String value(NodeAgent agent, String secret) {
        try {
            return Secrets.value(agent.caches().secrets().getObject(namespace, secret));
        } catch (ObjectUnavailableException | IllegalStateException notYet) {
            return "";
        }
    }

    @Test
    void request_denied_failsWithReasonAndRemedy() {
        signer.decide(SignerDecision.DENY);

        assertThatThrownBy(this::request)
                .satisfies(thrown -> assertThat(reasonOf(thrown)).isEqualTo(Reason.DENIED))
                .hasMessageContaining("was denied (NotOurs: the node is unknown)")
                .hasMessageContaining("`kubectl delete csr " + signer.requests().get(0) + "`");
    }

    @Test
    void request_signerFails_failsWithReasonAndRemedy() {
        signer.decide(SignerDecision.FAIL);

        assertThatThrownBy(this::request)
                .satisfies(thrown -> assertThat(reasonOf(thrown)).isEqualTo(Reason.FAILED))
                .hasMessageContaining("could not be signed (NoKey: the key is gone)");
    }

    @Test
    void request_deleted_isCreatedAgainAndSigned() {
        signer.decide(SignerDecision.DELETE);

        X509Certificate issued = request();

        assertThat(issued.getSubjectX500Principal().getName()).contains("CN=system:node:" + node);
        assertThat(signer.requests()).hasSize(2);
        assertThat(progress).anyMatch(line -> line.contains("it was created again"));
    }

    @Test
    void request_forgotten_saysHowToApproveIt_andIsTakenUpByTheNextStart() {
        signer.decide(SignerDecision.IGNORE);
        try (Fabric8ApiServer server = Fabric8ApiServer.of(bootstrap, RequestLimit.DEFAULT)) {
            CompletableFuture<X509Certificate> waiting = certificate.request(server, progress::add);
            await().until(() -> !signer.requests().isEmpty() && !progress.isEmpty());
            assertThat(waiting).isNotDone();
        }
        String name = signer.requests().get(0);
        assertThat(progress.get(0)).contains("`kubectl certificate approve " + name + "`");
        signer.sign(name);

        request();

        assertThat(signer.requests()).containsExactly(name);
    }

    @Test
    void certificate_withAnotherKey_isRefused() {
        signer.decide(SignerDecision.SIGN_ANOTHER_KEY);

        assertThatThrownBy(this::request)
                .satisfies(thrown -> assertThat(reasonOf(thrown)).isEqualTo(Reason.UNUSABLE))
                .hasMessageContaining("another public key");
    }

    @Test
    void user_withoutTheRole_isToldWhichBindingIsMissing() {
        assertThatThrownBy(() -> requestAs(real.configFor("stranger", "strangers")))
                .isInstanceOf(CompletionException.class)
                .satisfies(thrown -> assertThat(reasonOf(thrown)).isEqualTo(Reason.FORBIDDEN))
                .hasMessageContaining("User \"stranger\" cannot create resource")
                .hasMessageContaining("--clusterrole=system:node-bootstrapper");
    }

    @Test
    void token_thatIsNotAccepted_isSaidToHaveExpired() {
        assertThatThrownBy(() -> requestAs(real.tokenConfig("abcdef." + NoLeaks.CANARY)))
                .satisfies(thrown -> assertThat(reasonOf(thrown)).isEqualTo(Reason.UNAUTHORIZED))
                .hasMessageContaining("`kubeadm token create`");
    }
}
