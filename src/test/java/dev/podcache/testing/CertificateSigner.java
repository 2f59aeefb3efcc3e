package dev.podcache.testing;

import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestBuilder;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestConditionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.CertificateSigningRequestResource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Approves and signs the requests for client certificates of one node at a {@link RealApiServer}, which has no
 * kube-controller-manager. Signs with the authority that the server trusts. A test chooses what happens to the next
 * requests; all others are signed. Thread-safe.
 */
public final class CertificateSigner implements AutoCloseable {

    private static final String SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";

    private final KubernetesClient client;
    private final TestCertificates certificates;
    private final String node;
    private final Queue<SignerDecision> next = new ConcurrentLinkedQueue<>();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private volatile Duration since = Duration.ofMinutes(5);
    private volatile Duration life = Duration.ofHours(1);

    /** What happens to a request. */
    public enum SignerDecision {
        /** It is approved and signed. */
        SIGN,
        /** It is denied, with reason {@code NotOurs} and message {@code the node is unknown}. */
        DENY,
        /** It is approved, and the signer fails, with reason {@code NoKey} and message {@code the key is gone}. */
        FAIL,
        /** It is deleted. */
        DELETE,
        /** Nothing. */
        IGNORE,
        /** It is approved, but not signed. */
        APPROVE_ONLY,
        /** It is approved, and the certificate has another public key. */
        SIGN_ANOTHER_KEY
    }

    CertificateSigner(KubernetesClient client, TestCertificates certificates, String node) {
        this.client = client;
        this.certificates = certificates;
        this.node = node;
        client.certificates().v1().certificateSigningRequests().watch(new Arrivals());
    }

    /** Sets what happens to the requests to come, one after the other. Those after them are signed. */
    public void decide(SignerDecision... decisions) {
        next.addAll(List.of(decisions));
    }

    /**
     * Sets the validity of the certificates to come.
     *
     * @param before how long ago it began
     * @param after how long it lasts from now on
     */
    public void validity(Duration before, Duration after) {
        since = before;
        life = after;
    }

    /** Returns the names of the requests so far, in order. */
    public List<String> requests() {
        return List.copyOf(seen);
    }

    /** Signs a request that was ignored. */
    public void sign(String request) {
        act(
                SignerDecision.SIGN,
                client.certificates()
                        .v1()
                        .certificateSigningRequests()
                        .withName(request)
                        .get());
    }

    private void act(SignerDecision decision, CertificateSigningRequest request) {
        try {
            switch (decision) {
                case SIGN ->
                    sign(
                            request,
                            certificates.signedPem(
                                    text(request.getSpec().getRequest()),
                                    Instant.now().minus(since),
                                    Instant.now().plus(life)));
                case SIGN_ANOTHER_KEY ->
                    sign(
                            request,
                            certificates.signedWithOwnKeyPem(
                                    text(request.getSpec().getRequest()),
                                    Instant.now().plus(life)));
                case DENY ->
                    resource(request)
                            .deny(condition("Denied", "NotOurs", "the node is unknown")
                                    .build());
                case FAIL -> fail(request);
                case DELETE -> resource(request).delete();
                case APPROVE_ONLY -> resource(request).approve();
                case IGNORE -> {}
            }
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            failures.add(e);
        }
    }

    private void sign(CertificateSigningRequest request, String pem) {
        CertificateSigningRequest approved = resource(request).approve();
        client.resource(new CertificateSigningRequestBuilder(approved)
                        .editOrNewStatus()
                        .withCertificate(Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)))
                        .endStatus()
                        .build())
                .updateStatus();
    }

    private void fail(CertificateSigningRequest request) {
        CertificateSigningRequest approved = resource(request).approve();
        client.resource(new CertificateSigningRequestBuilder(approved)
                        .editOrNewStatus()
                        .addToConditions(
                                condition("Failed", "NoKey", "the key is gone").build())
                        .endStatus()
                        .build())
                .updateStatus();
    }

    private static CertificateSigningRequestConditionBuilder condition(String type, String reason, String message) {
        return new CertificateSigningRequestConditionBuilder()
                .withType(type)
                .withStatus("True")
                .withReason(reason)
                .withMessage(message);
    }

    private CertificateSigningRequestResource<CertificateSigningRequest> resource(CertificateSigningRequest request) {
        return client.certificates()
                .v1()
                .certificateSigningRequests()
                .withName(request.getMetadata().getName());
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.US_ASCII);
    }

    /**
     * Stops.
     *
     * @throws AssertionError if the API server refused something
     */
    @Override
    public void close() {
        client.close();
        if (!failures.isEmpty()) {
            throw new AssertionError("the signer failed", failures.get(0));
        }
    }

    /** Receives the requests. */
    private final class Arrivals implements Watcher<CertificateSigningRequest> {

        @Override
        public void eventReceived(Action action, CertificateSigningRequest request) {
            boolean ours = SIGNER.equals(request.getSpec().getSignerName())
                    && TestCertificates.subjectOf(text(request.getSpec().getRequest()))
                            .endsWith("CN=system:node:" + node);
            if (action == Action.ADDED && ours && !isDecided(request)) {
                seen.add(request.getMetadata().getName());
                SignerDecision decision = next.poll();
                act(decision == null ? SignerDecision.SIGN : decision, request);
            }
        }

        private boolean isDecided(CertificateSigningRequest request) {
            return request.getStatus() != null
                    && !request.getStatus().getConditions().isEmpty();
        }

        @Override
        public void onClose(WatcherException cause) {
            failures.add(cause);
        }
    }
}
