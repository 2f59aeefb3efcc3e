package dev.podcache.kubelet.server;

import java.security.GeneralSecurityException;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;

/** The certificate of the server, with its chain, and its private key, both in PEM format. Immutable. */
final class ServingCertificate {

    private final byte[] certificates;
    private final byte[] key;

    /** Creates an instance of arrays that must not be modified afterwards. */
    ServingCertificate(byte[] certificates, byte[] key) {
        this.certificates = certificates;
        this.key = key;
    }

    byte[] certificates() {
        return certificates;
    }

    byte[] key() {
        return key;
    }

    /**
     * Checks that a private key belongs to a certificate: while two files are replaced, one is new and one is old.
     *
     * @throws GeneralSecurityException if it does not
     */
    static void requirePair(PublicKey certificate, PrivateKey key) throws GeneralSecurityException {
        if (!certificate.getAlgorithm().equals(key.getAlgorithm())) {
            throw new KeyStoreException("the key is not the key of the certificate");
        }
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        byte[] sample = {1, 2, 3};
        Signature signer = Signature.getInstance(algorithm);
        signer.initSign(key);
        signer.update(sample);
        byte[] signature = signer.sign();
        Signature verifier = Signature.getInstance(algorithm);
        verifier.initVerify(certificate);
        verifier.update(sample);
        if (!verifier.verify(signature)) {
            throw new KeyStoreException("the key is not the key of the certificate");
        }
    }
}
