package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.credentials.PrivateKeys;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.certificate.CertificateRequestException.Reason;
import dev.podcache.object.ObjectKey;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The client certificate of a node, with its key, in the file {@code kubelet-client-current.pem} of a directory, as a
 * kubelet keeps it. A client uses it by naming that file both as its certificate and as its key. Thread-safe, but only one
 * process may write to the directory.
 *
 * <p>A node without a certificate {@linkplain #request requests} one with other credentials, such as a bootstrap token. The
 * cluster must approve and sign it. {@link CertificateRotation} replaces it before it expires.
 *
 * <p>Follows {@code pkg/kubelet/certificate/bootstrap} and {@code client-go/util/certificate}.
 */
public final class NodeCertificate {

    private final String node;
    private final CertificateFiles files;

    private NodeCertificate(String node, Path directory) {
        this.node = node;
        this.files = new CertificateFiles(directory);
    }

    /**
     * Returns the certificate of a node, which need not exist. Reads nothing.
     *
     * @param directory created if necessary
     * @throws IllegalArgumentException if {@code node} is not a legal name of a Node
     */
    public static NodeCertificate of(String node, Path directory) {
        return new NodeCertificate(ObjectKey.validatedClusterScoped(node).name(), directory);
    }

    /** Returns the name of the node. */
    public String node() {
        return node;
    }

    /** Returns the absolute path of the file with the certificate and the key. It need not exist. */
    public Path file() {
        return files.current();
    }

    CertificateFiles files() {
        return files;
    }

    /** Reads the certificate. Empty if there is none, it is of another node, or it has expired or is unusable. Blocks. */
    public Optional<X509Certificate> validAt(Instant now) {
        try {
            CertifiedKey stored = files.read();
            stored.requireUser(node);
            return stored.isValidAt(now) ? Optional.of(stored.certificate()) : Optional.empty();
        } catch (IOException | GeneralSecurityException unusable) {
            return Optional.empty();
        }
    }

    /**
     * Puts a certificate that comes from elsewhere into the file. Blocks.
     *
     * @param pem the certificate, its intermediates and its key, in PEM format
     * @throws CertificateRequestException if it is not a certificate of the node with its key, or cannot be written
     */
    public void store(String pem, Instant now) {
        try {
            CertifiedKey given = CertifiedKey.stored(pem, PrivateKeys.read(pem));
            given.requireUser(node);
            files.store(node, given, now);
        } catch (IOException | GeneralSecurityException e) {
            throw RequestFailures.ofFiles(e);
        }
    }

    /**
     * Requests a certificate by a CertificateSigningRequest, and stores it. A request that is pending since an earlier
     * start is taken up. A request that is deleted is created again, and one that was not approved within 15 min is
     * replaced by another with a new key. While the server does not answer, the request is repeated. Returns at once.
     *
     * @param server has the credentials of the bootstrap; closing it ends the request, and the future then never completes
     * @param progress receives a line for people that says what is waited for, at once and every minute; called on any
     *     thread, must not block
     * @return completes once the certificate is in {@link #file}; or exceptionally with a {@link
     *     CertificateRequestException}, if somebody has to do something first
     */
    public CompletableFuture<X509Certificate> request(Fabric8ApiServer server, Consumer<String> progress) {
        Objects.requireNonNull(progress, "progress");
        return request(SigningRequests.at(server), progress);
    }

    CompletableFuture<X509Certificate> request(SigningRequests server, Consumer<String> progress) {
        CompletableFuture<X509Certificate> result = new CompletableFuture<>();
        requestNext(new NodeRequests(this, server, true, progress), progress, result);
        return result;
    }

    private void requestNext(
            NodeRequests requests, Consumer<String> progress, CompletableFuture<X509Certificate> result) {
        requests.next().whenComplete((identity, thrown) -> {
            if (identity != null) {
                result.complete(identity.certificate());
            } else if (isNotApproved(thrown)) {
                progress.accept(thrown.getMessage());
                requestNext(requests, progress, result);
            } else {
                result.completeExceptionally(thrown);
            }
        });
    }

    private static boolean isNotApproved(@Nullable Throwable thrown) {
        return thrown instanceof CertificateRequestException refused && refused.reason() == Reason.NOT_APPROVED;
    }

    /** Returns the name of the node and the file, without content. */
    @Override
    public String toString() {
        return "certificate of node " + node + " in " + file();
    }
}
