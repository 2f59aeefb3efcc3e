package dev.podcache.kubelet.certificate;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Thrown if a node did not get a certificate. The message says why and what to do; it contains no key. Immutable. */
public final class CertificateRequestException extends RuntimeException {

    private final Reason reason;

    /** Why there is no certificate. */
    public enum Reason {
        /** The CertificateSigningRequest was denied. */
        DENIED,
        /** The signer could not sign. */
        FAILED,
        /** The CertificateSigningRequest was not approved and signed within 15 min. */
        NOT_APPROVED,
        /** The certificate is for another key, another name or another use, or has expired. */
        UNUSABLE,
        /** The API server does not accept the credentials (401). */
        UNAUTHORIZED,
        /** The credentials lack a permission on CertificateSigningRequests (403). */
        FORBIDDEN,
        /** The API server refused the request for another reason. */
        REFUSED,
        /** The certificate or the key could not be written or read. */
        FILES
    }

    CertificateRequestException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    public Reason reason() {
        return reason;
    }

    /** Returns whether the next request needs another key, because this request can give no certificate any more. */
    boolean needsNewKey() {
        return switch (reason) {
            case DENIED, FAILED, NOT_APPROVED, UNUSABLE -> true;
            case UNAUTHORIZED, FORBIDDEN, REFUSED, FILES -> false;
        };
    }
}
