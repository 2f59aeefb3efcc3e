package dev.podcache.kubelet.certificate;

import dev.podcache.apiserver.http.CombinedPem;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes, checks and writes key pairs: ECDSA on P-256, as a kubelet's are. */
public final class KeyPairs {

    private static final byte[] ECDSA_WITH_SHA256 = Der.sequence(Der.identifier(42, 840, 10045, 4, 3, 2));
    private static final byte[] EC_ON_P256 =
            Der.sequence(Der.identifier(42, 840, 10045, 2, 1), Der.identifier(42, 840, 10045, 3, 1, 7));
    private static final byte[] RSA = Der.sequence(Der.identifier(42, 840, 113549, 1, 1, 1), Der.tagged(0x05));

    private static final Pattern KEY =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----\\s(.*?)-----END", Pattern.DOTALL);
    private static final Pattern PUBLIC_KEY =
            Pattern.compile("-----BEGIN PUBLIC KEY-----\\s(.*?)-----END", Pattern.DOTALL);
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
     * Returns the first private key in {@code pem}: RSA in PKCS#1 or PKCS#8, or EC in PKCS#8 or as kubelets write it.
     *
     * @throws GeneralSecurityException if there is none, or it cannot be read; the message never quotes it
     */
    static PrivateKey privateKey(String pem) throws GeneralSecurityException {
        Matcher block = KEY.matcher(CombinedPem.privateKey(pem));
        if (!block.find()) {
            throw new InvalidKeyException("there is no private key in PEM format");
        }
        byte[] der = decoded(block.group(2));
        return switch (block.group(1)) {
            case "EC PRIVATE KEY" -> privateKey("EC", wrapped(EC_ON_P256, der));
            case "RSA PRIVATE KEY" -> privateKey("RSA", wrapped(RSA, der));
            case "PRIVATE KEY" -> {
                try {
                    yield privateKey("EC", der);
                } catch (InvalidKeySpecException another) {
                    yield privateKey("RSA", der);
                }
            }
            default -> throw new InvalidKeyException("a key of type " + block.group(1) + " cannot be read");
        };
    }

    private static PrivateKey privateKey(String algorithm, byte[] pkcs8) throws GeneralSecurityException {
        try {
            return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
        } catch (InvalidKeySpecException e) {
            // the message of the cause may quote the key
            throw new InvalidKeySpecException("the private key cannot be read");
        }
    }

    /** Returns a key in PKCS#8. */
    private static byte[] wrapped(byte[] algorithm, byte[] key) {
        return Der.sequence(Der.integer(BigInteger.ZERO), algorithm, Der.octets(key));
    }

    private static byte[] decoded(String base64) throws InvalidKeyException {
        try {
            return Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new InvalidKeyException("the key is not in PEM format");
        }
    }

    /**
     * Returns the pair that {@link #pem(KeyPair)} has written.
     *
     * @throws GeneralSecurityException if {@code pem} is damaged; the message never quotes it
     */
    static KeyPair ofPem(String pem) throws GeneralSecurityException {
        Matcher block = PUBLIC_KEY.matcher(pem);
        if (!block.find()) {
            throw new InvalidKeyException("there is no public key in PEM format");
        }
        PublicKey own = KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(decoded(block.group(1))));
        PrivateKey key = privateKey(pem);
        requirePair(own, key);
        return new KeyPair(own, key);
    }

    /**
     * Checks that a private key belongs to the public key of a certificate.
     *
     * @throws GeneralSecurityException if it does not
     */
    public static void requirePair(PublicKey certificate, PrivateKey key) throws GeneralSecurityException {
        if (!certificate.getAlgorithm().equals(key.getAlgorithm())) {
            throw new KeyStoreException("the key is not the key of the certificate");
        }
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> SHA256_WITH_ECDSA;
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

    /**
     * Returns DER in PEM format.
     *
     * @param type such as {@code CERTIFICATE}
     */
    public static String pem(String type, byte[] der) {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return "-----BEGIN " + type + "-----\n" + base64 + "\n-----END " + type + "-----\n";
    }

    /** Returns a private key in PEM format: PKCS#8. */
    public static String pem(PrivateKey key) {
        return pem("PRIVATE KEY", key.getEncoded());
    }

    /** Returns both keys in PEM format, because a private key alone does not say its public key. */
    static String pem(KeyPair keys) {
        return pem("PUBLIC KEY", keys.getPublic().getEncoded()) + pem(keys.getPrivate());
    }

    /** Returns PEM as the bytes of a file. */
    public static byte[] bytes(String pem) {
        return pem.getBytes(StandardCharsets.US_ASCII);
    }
}
