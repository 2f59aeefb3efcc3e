package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.credentials.Der;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequestBuilder;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;

/**
 * A request for the client certificate of a node: a CertificateSigningRequest with a PKCS#10 request in it. Its name is a
 * digest of the public key, the subject and the usages, so that an agent which starts again finds the request that it
 * made before. Follows {@code pkg/kubelet/certificate/bootstrap/bootstrap.go}. Immutable.
 */
final class SigningRequest {

    /** The signer that API servers accept the certificates of nodes from. */
    static final String SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";

    /** Unlike RSA keys, ECDSA keys cannot encipher keys; controllers before Kubernetes 1.25 demand that usage. */
    static final List<String> USAGES = List.of("digital signature", "client auth");

    private static final byte[] COMMON_NAME = Der.identifier(85, 4, 3);
    private static final byte[] ORGANIZATION = Der.identifier(85, 4, 10);
    private static final int ATTRIBUTES = 0xa0;

    private final String node;
    private final KeyPair keys;
    private final String name;

    /**
     * Creates a request.
     *
     * @param node the name of the node
     * @param keys of {@link KeyPairs#newPair}
     */
    SigningRequest(String node, KeyPair keys) {
        this.node = node;
        this.keys = keys;
        this.name = "node-csr-" + digest(node, keys);
    }

    /** Returns the key of the object. */
    ObjectKey key() {
        return ObjectKey.of("", name);
    }

    String node() {
        return node;
    }

    KeyPair keys() {
        return keys;
    }

    /** Returns the object to create. */
    CertificateSigningRequest object() {
        byte[] pem = KeyPairs.bytes(PemText.of("CERTIFICATE REQUEST", encoded()));
        return new CertificateSigningRequestBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withRequest(Base64.getEncoder().encodeToString(pem))
                .withSignerName(SIGNER)
                .withUsages(USAGES)
                .endSpec()
                .build();
    }

    /** Returns the PKCS#10 request in DER (RFC 2986). */
    byte[] encoded() {
        byte[] subject = Der.sequence(
                Der.set(Der.sequence(ORGANIZATION, Der.utf8(CertifiedKey.GROUP))),
                Der.set(Der.sequence(COMMON_NAME, Der.utf8(CertifiedKey.userOf(node)))));
        byte[] content = Der.sequence(
                Der.integer(BigInteger.ZERO), subject, keys.getPublic().getEncoded(), Der.tagged(ATTRIBUTES));
        return KeyPairs.signed(content, keys.getPrivate());
    }

    /** Separates the parts as upstream, so that no two inputs give the same stream of bytes. */
    private static String digest(String node, KeyPair keys) {
        Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
        StringBuilder text = new StringBuilder();
        text.append(encoder.encodeToString(keys.getPublic().getEncoded())).append('|');
        text.append(encoded(encoder, CertifiedKey.userOf(node)));
        text.append(encoded(encoder, CertifiedKey.GROUP));
        USAGES.forEach(usage -> text.append(encoded(encoder, usage)));
        try {
            byte[] hash = MessageDigest.getInstance("SHA-512/256")
                    .digest(text.toString().getBytes(StandardCharsets.US_ASCII));
            return encoder.encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-512/256", e);
        }
    }

    private static String encoded(Base64.Encoder encoder, String part) {
        return encoder.encodeToString(part.getBytes(StandardCharsets.UTF_8)) + "|";
    }

    /** Returns the name of the object. */
    @Override
    public String toString() {
        return name;
    }
}
