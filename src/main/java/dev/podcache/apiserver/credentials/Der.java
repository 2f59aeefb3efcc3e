package dev.podcache.apiserver.credentials;

import com.google.common.primitives.Bytes;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;

/**
 * Encodes values of ASN.1 in DER, as far as a certificate or the request for one needs it. Written by hand, because the
 * JDK has no public API for it, and Bouncy Castle is larger than this library.
 */
public final class Der {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    private Der() {}

    /** Returns a value with its tag and length. */
    public static byte[] tagged(int tag, byte[]... parts) {
        byte[] content = Bytes.concat(parts);
        byte[] signed = BigInteger.valueOf(content.length).toByteArray();
        // a length has no leading zero, unlike an integer
        byte[] length = signed[0] == 0 ? Arrays.copyOfRange(signed, 1, signed.length) : signed;
        byte[] head = content.length < 0x80
                ? new byte[] {(byte) tag, (byte) content.length}
                : Bytes.concat(new byte[] {(byte) tag, (byte) (0x80 | length.length)}, length);
        return Bytes.concat(head, content);
    }

    public static byte[] sequence(byte[]... parts) {
        return tagged(0x30, parts);
    }

    public static byte[] set(byte[] part) {
        return tagged(0x31, part);
    }

    public static byte[] integer(BigInteger value) {
        return tagged(0x02, value.toByteArray());
    }

    public static byte[] utf8(String text) {
        return tagged(0x0c, text.getBytes(StandardCharsets.UTF_8));
    }

    public static byte[] octets(byte[] value) {
        return tagged(0x04, value);
    }

    public static byte[] bits(byte[] value) {
        return tagged(0x03, new byte[] {0}, value);
    }

    public static byte[] isTrue() {
        return tagged(0x01, new byte[] {(byte) 0xff});
    }

    public static byte[] time(Instant time) {
        return tagged(0x18, TIME.format(time).getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns an object identifier; the first two numbers are given as one, 40 times the first plus the second. */
    public static byte[] identifier(int... numbers) {
        byte[] content = {};
        for (int number : numbers) {
            byte[] last = {(byte) (number & 0x7f)};
            byte[] encoded = last;
            for (int rest = number >> 7; rest > 0; rest >>= 7) {
                encoded = Bytes.concat(new byte[] {(byte) (0x80 | (rest & 0x7f))}, encoded);
            }
            content = Bytes.concat(content, encoded);
        }
        return tagged(0x06, content);
    }
}
