package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.kubelet.certificate.CertificateRequestException.Reason;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestCondition;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestStatus;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says in one sentence why a request failed and what to do. */
final class RequestFailures {

    private static final String SIGNER_REMEDY =
            "check the signer, usually kube-controller-manager with --cluster-signing-cert-file and"
                    + " --cluster-signing-key-file";

    private static final String ANOTHER_TOKEN =
            "the bootstrap token has probably expired: create another one (`kubeadm token create`) and write it to the"
                    + " bootstrap kubeconfig";
    private static final String ANOTHER_BOOTSTRAP =
            "the node's certificate has probably expired: start again with --bootstrap-kubeconfig";
    private static final String BOOTSTRAP_BINDING =
            "a ClusterRoleBinding is missing: `kubectl create clusterrolebinding podcache-bootstrap"
                    + " --clusterrole=system:node-bootstrapper --group=system:bootstrappers`";
    private static final String NODE_AUTHORIZER =
            "grant create, get, list and watch on certificatesigningrequests, which ClusterRole system:node has";
    private static final String OLD_SERVER =
            "the API server must serve certificates.k8s.io/v1, as Kubernetes 1.19 and newer do";

    private RequestFailures() {}

    /** Returns the failure that the conditions of an object say; empty if it may still be signed. */
    static Optional<CertificateRequestException> of(
            SigningRequest request, CertificateSigningRequest object, boolean bootstrap) {
        String again = bootstrap
                ? "delete the request (`kubectl delete csr " + request + "`) and start again"
                : "another request follows";
        for (CertificateSigningRequestCondition condition : conditions(object)) {
            String type = String.valueOf(condition.getType());
            if (type.equals("Denied")) {
                String text =
                        " was denied" + why(condition) + "; if node " + request.node() + " may be in the cluster, ";
                return Optional.of(failure(Reason.DENIED, request, text + again));
            }
            if (type.equals("Failed")) {
                String text = " could not be signed" + why(condition) + "; " + SIGNER_REMEDY + "; then ";
                return Optional.of(failure(Reason.FAILED, request, text + again));
            }
        }
        return Optional.empty();
    }

    private static CertificateRequestException failure(Reason reason, SigningRequest request, String text) {
        return new CertificateRequestException(reason, named(request) + text, null);
    }

    /** Returns the certificate in an object in base64; empty if it is not both approved and signed. */
    static Optional<String> certificate(CertificateSigningRequest object) {
        CertificateSigningRequestStatus status = object.getStatus();
        return !isApproved(object)
                        || status.getCertificate() == null
                        || status.getCertificate().isEmpty()
                ? Optional.empty()
                : Optional.of(status.getCertificate());
    }

    /** Returns the line for people while a request is pending. */
    static String pending(SigningRequest request, CertificateSigningRequest object) {
        return isApproved(object)
                ? named(request) + " is approved but not signed yet; if this lasts, " + SIGNER_REMEDY
                : named(request) + " of node " + request.node() + " waits for approval: `kubectl certificate approve "
                        + request + "`";
    }

    static CertificateRequestException notApproved(SigningRequest request) {
        return failure(
                Reason.NOT_APPROVED,
                request,
                " was not approved and signed within " + PendingRequest.TIMEOUT.toMinutes()
                        + " min; another request follows: approve it with `kubectl certificate approve`, or let"
                        + " kube-controller-manager approve it, see deploy/examples/rbac-bootstrap.yaml");
    }

    static CertificateRequestException unusable(SigningRequest request, Exception why) {
        return new CertificateRequestException(
                Reason.UNUSABLE,
                "the certificate of " + named(request) + " is refused: " + Quoted.text(String.valueOf(why.getMessage()))
                        + "; " + SIGNER_REMEDY + ", and the clocks",
                why);
    }

    /** Returns the failure that an answer of the API server means. */
    static CertificateRequestException refused(ApiServerException answer, boolean bootstrap) {
        return switch (answer.reason()) {
            case UNAUTHORIZED -> answered(Reason.UNAUTHORIZED, answer, bootstrap ? ANOTHER_TOKEN : ANOTHER_BOOTSTRAP);
            case FORBIDDEN -> answered(Reason.FORBIDDEN, answer, bootstrap ? BOOTSTRAP_BINDING : NODE_AUTHORIZER);
            default -> answered(Reason.REFUSED, answer, OLD_SERVER);
        };
    }

    private static CertificateRequestException answered(Reason reason, ApiServerException answer, String remedy) {
        return new CertificateRequestException(reason, answer.getMessage() + "; " + remedy, answer);
    }

    static CertificateRequestException ofFiles(Exception e) {
        return new CertificateRequestException(
                Reason.FILES,
                "the certificate of the node cannot be kept: " + e + "; --cert-dir must be a directory that this user"
                        + " can write",
                e);
    }

    private static boolean isApproved(CertificateSigningRequest object) {
        return conditions(object).stream().anyMatch(condition -> "Approved".equals(condition.getType()));
    }

    private static List<CertificateSigningRequestCondition> conditions(CertificateSigningRequest object) {
        CertificateSigningRequestStatus status = object.getStatus();
        return status == null || status.getConditions() == null ? List.of() : status.getConditions();
    }

    private static String why(CertificateSigningRequestCondition condition) {
        String text = Stream.of(condition.getReason(), condition.getMessage())
                .filter(Objects::nonNull)
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(": "));
        return text.isEmpty() ? "" : " (" + Quoted.text(text) + ")";
    }

    private static String named(SigningRequest request) {
        return "CertificateSigningRequest " + request;
    }
}
