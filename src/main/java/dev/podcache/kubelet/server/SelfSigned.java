package dev.podcache.kubelet.server;

import com.google.common.net.InetAddresses;
import dev.podcache.apiserver.credentials.Der;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.kubelet.certificate.KeyPairs;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Makes self-signed certificates for servers, as a kubelet does that has no certificate. Written by hand, because the
 * JDK has no public API to make a certificate, and Netty needs Bouncy Castle for it, which is larger than this library.
 */
final class SelfSigned {

    private static final Duration VALID = Duration.ofDays(3650);
    private static final Duration CLOCK_SKEW = Duration.ofHours(1);
    private static final int SERIAL_BITS = 120;

    private static final byte[] COMMON_NAME = Der.identifier(85, 4, 3);
    private static final byte[] SUBJECT_ALTERNATIVE_NAME = Der.identifier(85, 29, 17);
    private static final byte[] KEY_USAGE = Der.identifier(85, 29, 15);
    private static final byte[] EXTENDED_KEY_USAGE = Der.identifier(85, 29, 37);
    private static final byte[] SERVER_AUTHENTICATION = Der.identifier(43, 6, 1, 5, 5, 7, 3, 1);
    private static final byte[] DIGITAL_SIGNATURE = {0x03, 0x02, 0x07, (byte) 0x80};

    private static final int DNS_NAME = 0x82;
    private static final int IP_ADDRESS = 0x87;

    private SelfSigned() {}

    /**
     * Makes a key and a certificate, which is valid for ten years. Takes some milliseconds.
     *
     * @param names the host names and IP addresses of the server, the first of them the subject
     */
    static ServingCertificate of(List<String> names, Instant now) {
        KeyPair keys = KeyPairs.newPair();
        byte[] certificate = KeyPairs.signed(content(names, now, keys), keys.getPrivate());
        return new ServingCertificate(
                KeyPairs.bytes(PemText.of("CERTIFICATE", certificate)),
                KeyPairs.bytes(KeyPairs.pem(keys.getPrivate())));
    }

    private static byte[] content(List<String> names, Instant now, KeyPair keys) {
        byte[] name = Der.sequence(Der.set(Der.sequence(COMMON_NAME, Der.utf8(names.get(0)))));
        byte[] version = Der.tagged(0xa0, Der.integer(BigInteger.TWO));
        byte[] serial = Der.integer(new BigInteger(SERIAL_BITS, new SecureRandom()).setBit(SERIAL_BITS));
        byte[] validity = Der.sequence(Der.time(now.minus(CLOCK_SKEW)), Der.time(now.plus(VALID)));
        byte[] extensions = Der.tagged(
                0xa3,
                Der.sequence(
                        Der.sequence(KEY_USAGE, Der.isTrue(), Der.octets(DIGITAL_SIGNATURE)),
                        Der.sequence(EXTENDED_KEY_USAGE, Der.octets(Der.sequence(SERVER_AUTHENTICATION))),
                        Der.sequence(SUBJECT_ALTERNATIVE_NAME, Der.octets(alternativeNames(names)))));
        return Der.sequence(
                version,
                serial,
                KeyPairs.signatureAlgorithm(),
                name,
                validity,
                name,
                keys.getPublic().getEncoded(),
                extensions);
    }

    private static byte[] alternativeNames(List<String> names) {
        return Der.sequence(names.stream().map(SelfSigned::alternativeName).toArray(byte[][]::new));
    }

    private static byte[] alternativeName(String name) {
        return InetAddresses.isInetAddress(name)
                ? Der.tagged(IP_ADDRESS, InetAddresses.forString(name).getAddress())
                : Der.tagged(DNS_NAME, name.getBytes(StandardCharsets.US_ASCII));
    }
}
