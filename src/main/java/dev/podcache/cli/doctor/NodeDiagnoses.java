package dev.podcache.cli.doctor;

import com.google.common.collect.ImmutableList;
import com.google.common.io.BaseEncoding;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Quoted;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestCondition;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the API server's answers about one node mean. Pure functions; Nodes, Leases and requests contain no secrets. */
final class NodeDiagnoses {

    private static final String REGISTRATION = "node";
    private static final String LEASE = "lease";
    private static final String CERTIFICATE = "certificate";
    private static final String ENDPOINT = "endpoint";
    private static final String IDENTITY = "system:node:";
    private static final String SERVING_SIGNER = "kubernetes.io/kubelet-serving";
    private static final String NO_PODS = "no pod is scheduled to it";

    private final String node;

    NodeDiagnoses(String node) {
        this.node = node;
    }

    /** @param found null if there is none */
    Diagnosis registration(@Nullable Node found) {
        if (found == null) {
            return Diagnosis.problem(
                    REGISTRATION,
                    "there is no Node " + node,
                    NO_PODS,
                    "start its agent: `podcache run --node " + node
                            + "`; a Node that was deleted comes back with --register-again only");
        }
        Optional<NodeCondition> ready = found.getStatus() == null
                ? Optional.empty()
                : found.getStatus().getConditions().stream()
                        .filter(condition -> "Ready".equals(condition.getType()))
                        .findFirst();
        if (ready.isPresent() && "True".equals(ready.get().getStatus())) {
            return Boolean.TRUE.equals(found.getSpec().getUnschedulable())
                    ? Diagnosis.note(
                            REGISTRATION,
                            "Node " + node + " is Ready, but cordoned",
                            NO_PODS,
                            "`kubectl uncordon " + node + "`")
                    : Diagnosis.ok(REGISTRATION, "Node " + node + " is Ready");
        }
        String why = ready.map(condition -> condition.getStatus() + ": " + message(condition.getMessage()))
                .orElse("not reported");
        return Diagnosis.problem(
                REGISTRATION,
                "Node " + node + " is not Ready (" + why + ")",
                NO_PODS + ", and its pods are evicted",
                "Unknown: see that its agent runs and reaches the API server; False: the message says what is wrong there");
    }

    /** @param found null if there is none */
    Diagnosis lease(@Nullable Lease found, Instant now) {
        if (found == null || found.getSpec() == null || found.getSpec().getRenewTime() == null) {
            return Diagnosis.problem(
                    LEASE,
                    "node " + node + " has no Lease in kube-node-lease",
                    "the node becomes Unknown, and its pods are evicted",
                    "see that its agent runs, and that it may create and update that Lease: `podcache rbac --node "
                            + node + "`");
        }
        Duration age = Duration.between(found.getSpec().getRenewTime().toInstant(), now);
        Duration duration = Duration.ofSeconds(
                Optional.ofNullable(found.getSpec().getLeaseDurationSeconds()).orElse(0));
        // a clock that is behind is what the clock's own check reports
        String ago = Durations.text(Duration.ofSeconds(Math.max(0, age.toSeconds())));
        return age.compareTo(duration) > 0
                ? Diagnosis.problem(
                        LEASE,
                        "the Lease of node " + node + " was renewed " + ago + " ago, and lasts "
                                + Durations.text(duration),
                        "the node becomes Unknown, and its pods are evicted",
                        "see that its agent runs and reaches the API server; what it logs about the Lease says more")
                : Diagnosis.ok(LEASE, "the Lease of node " + node + " was renewed " + ago + " ago");
    }

    /**
     * Returns what is wrong with the node's requests for the certificate that is its identity, or that nothing is. Of the
     * requests before the last one that was issued, none matters any more.
     */
    ImmutableList<Diagnosis> certificates(List<CertificateSigningRequest> requests) {
        List<CertificateSigningRequest> own =
                requests.stream().filter(this::isForItsIdentity).toList();
        Instant lastIssued = own.stream()
                .filter(NodeDiagnoses::isIssued)
                .flatMap(request -> created(request).stream())
                .max(Comparator.naturalOrder())
                .orElse(Instant.MIN);
        ImmutableList.Builder<Diagnosis> wrong = ImmutableList.builder();
        for (CertificateSigningRequest request : own) {
            if (created(request).filter(lastIssued::isAfter).isEmpty()) {
                wrongWith(request).ifPresent(wrong::add);
            }
        }
        ImmutableList<Diagnosis> found = wrong.build();
        return found.isEmpty()
                ? ImmutableList.of(Diagnosis.ok(
                        CERTIFICATE,
                        "no request of node " + node + " waits or was refused"
                                + (lastIssued.equals(Instant.MIN) ? "" : " since the last one was issued")))
                : found;
    }

    /** A request for a serving certificate is none: without it, an agent runs and keeps its identity. */
    private boolean isForItsIdentity(CertificateSigningRequest request) {
        return !SERVING_SIGNER.equals(request.getSpec().getSignerName()) && isOfNode(request);
    }

    private static boolean isIssued(CertificateSigningRequest request) {
        return request.getStatus() != null && request.getStatus().getCertificate() != null;
    }

    private static Optional<Instant> created(CertificateSigningRequest request) {
        return ApiTime.parse(request.getMetadata().getCreationTimestamp());
    }

    private Optional<Diagnosis> wrongWith(CertificateSigningRequest request) {
        String what = "CertificateSigningRequest " + request.getMetadata().getName() + " of node " + node;
        String why = "without a certificate the node's agent cannot start, or stops working when its own expires";
        List<CertificateSigningRequestCondition> conditions =
                request.getStatus() == null ? List.of() : request.getStatus().getConditions();
        for (CertificateSigningRequestCondition condition : conditions) {
            if (!"Approved".equals(condition.getType())) {
                return Optional.of(Diagnosis.problem(
                        CERTIFICATE,
                        what + " is " + condition.getType() + " (" + message(condition.getMessage()) + ")",
                        why,
                        "correct that, and delete the request: its agent makes another one"));
            }
        }
        if (isIssued(request)) {
            return Optional.empty();
        }
        return Optional.of(
                conditions.isEmpty()
                        ? Diagnosis.problem(
                                CERTIFICATE,
                                what + " waits for approval",
                                why,
                                "`kubectl certificate approve "
                                        + request.getMetadata().getName()
                                        + "` if you know that node; kube-controller-manager approves such requests of"
                                        + " bootstrap tokens by itself if RBAC says so")
                        : Diagnosis.problem(
                                CERTIFICATE,
                                what + " is approved, but has no certificate",
                                why,
                                "see that kube-controller-manager runs and has the key of the cluster's authority"));
    }

    /** A request that bootstraps a node comes from a token, and has the node's name as its subject. */
    private boolean isOfNode(CertificateSigningRequest request) {
        if ((IDENTITY + node).equals(request.getSpec().getUsername())) {
            return true;
        }
        String subject = decoded(request.getSpec().getRequest());
        int at = subject.indexOf(IDENTITY + node);
        int end = at + IDENTITY.length() + node.length();
        return at >= 0 && (end == subject.length() || !isPartOfAName(subject.charAt(end)));
    }

    private static boolean isPartOfAName(char next) {
        return (next >= 'a' && next <= 'z') || (next >= '0' && next <= '9') || next == '-' || next == '.';
    }

    /** Returns the bytes of a request in PEM in base64, as characters; "" if it is none. */
    private static String decoded(@Nullable String request) {
        try {
            String pem =
                    new String(BaseEncoding.base64().decode(request == null ? "" : request), StandardCharsets.US_ASCII);
            String body = pem.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
            return new String(BaseEncoding.base64().decode(body), StandardCharsets.ISO_8859_1);
        } catch (IllegalArgumentException noRequest) {
            return "";
        }
    }

    /** @param failure of a request through the API server to the node's endpoint; null if it was answered */
    Diagnosis endpoint(@Nullable ApiServerException failure) {
        if (failure == null) {
            return Diagnosis.ok(ENDPOINT, "the API server reaches the node's endpoint: kubectl logs and exec can work");
        }
        String what = "the endpoint of node " + node + " did not answer through the API server ("
                + Quoted.text(String.valueOf(failure.getMessage())) + ")";
        String why = "kubectl logs, exec and port-forward do not work";
        if (failure.reason() == FailureReason.FORBIDDEN) {
            return Diagnosis.note(
                    ENDPOINT,
                    what,
                    "it is unknown whether kubectl logs works",
                    "let these credentials get nodes/proxy, or try `kubectl logs`; if that is forbidden for"
                            + " kube-apiserver-kubelet-client, bind it to the ClusterRole system:kubelet-api-admin");
        }
        if (failure.reason() == FailureReason.UNAUTHORIZED) {
            return Diagnosis.problem(
                    ENDPOINT,
                    what,
                    why,
                    "give the agent --client-ca-file with the authority of the API server's client certificate"
                            + " (--kubelet-client-certificate)");
        }
        return Diagnosis.problem(
                ENDPOINT,
                what,
                why,
                "see that the API server reaches the node's address and port (`kubectl get node " + node
                        + " -o wide`; status.daemonEndpoints): firewalls, --node-ip, --address and --port of the agent");
    }

    private static String message(@Nullable String given) {
        return given == null || given.isEmpty() ? "without a message" : Quoted.text(given);
    }

    /** A question that was not answered, which says nothing about the node. */
    static Diagnosis unknown(String check, ApiServerException failure) {
        return Diagnosis.note(
                check,
                Quoted.text(String.valueOf(failure.getMessage())),
                "it is unknown whether all is well",
                "run doctor with credentials that may read it");
    }
}
