package dev.podcache.kubelet.runtime;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Text that stands for any bytes. Kubernetes passes the value of a Secret to a variable as it is, and a variable of Linux
 * has bytes, not characters. Bytes that are UTF-8 are their text; each other byte is the character U+DC00 plus the byte,
 * which stands in no text by itself. Python does the same ({@code surrogateescape}). Pure functions.
 */
public final class ByteText {

    private static final char ESCAPE = 0xDC00;
    private static final int FIRST = 0x80;
    private static final int LAST = 0xFF;

    private ByteText() {}

    /** Returns the text that stands for these bytes. */
    public static String of(byte[] bytes) {
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length);
        for (CoderResult result = decoder.decode(in, out, true); result.isError(); ) {
            for (int i = 0; i < result.length(); i++) {
                out.put((char) (ESCAPE + (in.get() & LAST)));
            }
            decoder.reset();
            result = decoder.decode(in, out, true);
        }
        return out.flip().toString();
    }

    /** Returns the bytes that a text stands for. Other characters that are no Unicode become a question mark. */
    public static byte[] bytes(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        int copied = 0;
        for (int i = 0; i < text.length(); i++) {
            int value = text.charAt(i) - ESCAPE;
            if (value >= FIRST && value <= LAST && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)))) {
                bytes.writeBytes(text.substring(copied, i).getBytes(StandardCharsets.UTF_8));
                bytes.write(value);
                copied = i + 1;
            }
        }
        bytes.writeBytes(text.substring(copied).getBytes(StandardCharsets.UTF_8));
        return bytes.toByteArray();
    }
}
