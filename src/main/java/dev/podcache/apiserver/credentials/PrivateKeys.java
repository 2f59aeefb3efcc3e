package dev.podcache.apiserver.credentials;

import dev.podcache.apiserver.credentials.PemText.Block;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.List;

/**
 * Reads private keys: RSA in PKCS#1, EC in SEC1, and RSA, EC and Ed25519 in PKCS#8. The form is found in the content, as Go
 * does, because some programs write a wrong type in front of it. Pure.
 */
public final class PrivateKeys {

    private static final byte[] RSA = Der.sequence(Der.identifier(42, 840, 113549, 1, 1, 1), Der.tagged(0x05));
    private static final byte[] EC = Der.identifier(42, 840, 10045, 2, 1);
    private static final byte[] P256 = Der.identifier(42, 840, 10045, 3, 1, 7);
    private static final int INTEGER = 0x02;
    private static final int OCTETS = 0x04;
    private static final int IDENTIFIER = 0x06;
    private static final int SEQUENCE = 0x30;
    private static final int CURVE = 0xa0;

    private PrivateKeys() {}

    /**
     * Returns the first private key in {@code pem}.
     *
     * @throws GeneralSecurityException if there is none, or it cannot be read; the message never quotes it
     */
    public static PrivateKey read(String pem) throws GeneralSecurityException {
        List<Block> blocks = PemText.blocks(pem);
        for (Block block : blocks) {
            if (block.isPrivateKey()) {
                if (block.encrypted()) {
                    throw new InvalidKeyException("the private key is encrypted: decrypt it, as with `openssl pkey`");
                }
                byte[] der =
                        block.der().orElseThrow(() -> new InvalidKeyException("the private key is not in PEM format"));
                return ofDer(der, parameters(blocks));
            }
        }
        throw new InvalidKeyException("there is no private key in PEM format");
    }

    /** Returns the curve that an EC PARAMETERS block names; empty if there is none. */
    private static byte[] parameters(List<Block> blocks) {
        return blocks.stream()
                .filter(block -> block.type().equals("EC PARAMETERS"))
                .findFirst()
                .flatMap(Block::der)
                .orElse(new byte[0]);
    }

    private static PrivateKey ofDer(byte[] der, byte[] curve) throws GeneralSecurityException {
        try {
            DerPart outer = DerPart.at(der, 0);
            DerPart version = DerPart.at(der, outer.start);
            DerPart second = DerPart.at(der, version.end);
            if (outer.tag != SEQUENCE || version.tag != INTEGER) {
                throw unreadable();
            }
            if (second.tag == SEQUENCE) {
                return ofPkcs8(der);
            }
            if (second.tag == INTEGER) {
                return generated("RSA", wrapped(RSA, der));
            }
            if (second.tag == OCTETS) {
                byte[] beside = curve.length > 0 && curve[0] == IDENTIFIER ? curve : P256;
                byte[] named = curve(der, second.end, outer.end, beside);
                return generated("EC", wrapped(Der.sequence(EC, named), der));
            }
            throw new InvalidKeyException("the private key cannot be read");
        } catch (ArrayIndexOutOfBoundsException e) {
            throw unreadable();
        }
    }

    /** Returns the curve that the key names at its end, else the one that stands beside it. */
    private static byte[] curve(byte[] der, int from, int end, byte[] otherwise) {
        for (int at = from; at < end; ) {
            DerPart part = DerPart.at(der, at);
            if (part.tag == CURVE) {
                return Arrays.copyOfRange(der, part.start, part.end);
            }
            at = part.end;
        }
        return otherwise;
    }

    private static InvalidKeyException unreadable() {
        return new InvalidKeyException("the private key cannot be read");
    }

    private static PrivateKey ofPkcs8(byte[] der) throws GeneralSecurityException {
        for (String algorithm : List.of("EC", "RSA", "EdDSA")) {
            try {
                return generated(algorithm, der);
            } catch (InvalidKeySpecException another) {
                // the next one
            }
        }
        throw new InvalidKeySpecException("the private key cannot be read: it must be RSA, EC or Ed25519");
    }

    private static PrivateKey generated(String algorithm, byte[] pkcs8) throws GeneralSecurityException {
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
        boolean belongs;
        try {
            belongs = verifier.verify(signature);
        } catch (java.security.SignatureException otherSize) {
            belongs = false;
        }
        if (!belongs) {
            throw new KeyStoreException("the key is not the key of the certificate");
        }
    }

    /** A value of DER: where its content starts and ends. */
    private record DerPart(int tag, int start, int end) {

        static DerPart at(byte[] der, int at) {
            int tag = der[at] & 0xff;
            int first = der[at + 1] & 0xff;
            if (first < 0x80) {
                return checked(der, new DerPart(tag, at + 2, at + 2 + first));
            }
            int bytes = first & 0x7f;
            int length = 0;
            for (int each = 0; each < bytes; each++) {
                length = (length << 8) | (der[at + 2 + each] & 0xff);
            }
            int start = at + 2 + bytes;
            return checked(der, new DerPart(tag, start, start + length));
        }

        private static DerPart checked(byte[] der, DerPart part) {
            if (part.end < part.start || part.end > der.length) {
                throw new ArrayIndexOutOfBoundsException("a length is wrong");
            }
            return part;
        }
    }
}
