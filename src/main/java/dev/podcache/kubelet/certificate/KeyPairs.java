package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.credentials.Der;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.apiserver.credentials.PrivateKeys;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.X509EncodedKeySpec;

/** Makes and writes key pairs: ECDSA on P-256, as a kubelet's are. {@link PrivateKeys} reads them. */
public final class KeyPairs {

    private static final byte[] ECDSA_WITH_SHA256 = Der.sequence(Der.identifier(42, 840, 10045, 4, 3, 2));
    private static final String SHA256_WITH_ECDSA = "SHA256withECDSA";

    private KeyPairs() {}

    /** Makes a new pair. Takes some milliseconds. */
    public static KeyPair newPair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no ECDSA keys on P-256", e);
        }
    }

    /** Returns the DER encoding of the identifier of the algorithm of {@link #signed}. */
    public static byte[] signatureAlgorithm() {
        return ECDSA_WITH_SHA256.clone();
    }

    /**
     * Returns the DER encoding of {@code content} with its signature, as in certificates and requests for them.
     *
     * @param key of {@link #newPair}
     */
    public static byte[] signed(byte[] content, PrivateKey key) {
        try {
            Signature signature = Signature.getInstance(SHA256_WITH_ECDSA);
            signature.initSign(key);
            signature.update(content);
            return Der.sequence(content, ECDSA_WITH_SHA256, Der.bits(signature.sign()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime cannot sign with an ECDSA key on P-256", e);
        }
    }

    /**
     * Returns the pair that {@link #pem(KeyPair)} has written.
     *
     * @throws GeneralSecurityException if {@code pem} is damaged; the message never quotes it
     */
    static KeyPair ofPem(String pem) throws GeneralSecurityException {
        byte[] encoded = PemText.der(pem, "PUBLIC KEY")
                .orElseThrow(() -> new InvalidKeyException("there is no public key in PEM format"));
        PublicKey own = KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(encoded));
        PrivateKey key = PrivateKeys.read(pem);
        PrivateKeys.requirePair(own, key);
        return new KeyPair(own, key);
    }

    /** Returns a private key in PEM format: PKCS#8. */
    public static String pem(PrivateKey key) {
        return PemText.of("PRIVATE KEY", key.getEncoded());
    }

    /** Returns both keys in PEM format, because a private key alone does not say its public key. */
    static String pem(KeyPair keys) {
        return PemText.of("PUBLIC KEY", keys.getPublic().getEncoded()) + pem(keys.getPrivate());
    }

    /** Returns PEM as the bytes of a file. */
    public static byte[] bytes(String pem) {
        return pem.getBytes(StandardCharsets.US_ASCII);
    }
}
