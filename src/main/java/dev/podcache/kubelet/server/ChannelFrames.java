package dev.podcache.kubelet.server;

import java.util.Arrays;
import java.util.Base64;

/**
 * The messages of the subprotocols {@code v4.channel.k8s.io}, {@code v5.channel.k8s.io} and {@code
 * v4.base64.channel.k8s.io}. The first byte of a message is the number of its channel. In the last one, messages are text:
 * the channel as a digit, or a character after the digits, and the rest in Base64.
 */
final class ChannelFrames {

    static final String V4_BASE64 = "v4.base64.channel.k8s.io";

    private ChannelFrames() {}

    /** Returns a message with the first {@code length} bytes of {@code content}. */
    static byte[] message(int channel, byte[] content, int length) {
        byte[] message = new byte[length + 1];
        message[0] = (byte) channel;
        System.arraycopy(content, 0, message, 1, length);
        return message;
    }

    /** Returns the channel of a message, which must not be empty. */
    static int channel(byte[] message) {
        return message[0] & 0xff;
    }

    /** Returns a message as text. */
    static String encode(byte[] message) {
        byte[] content = Arrays.copyOfRange(message, 1, message.length);
        return (char) ('0' + channel(message)) + Base64.getEncoder().encodeToString(content);
    }

    /**
     * Returns the message of a text; empty for an empty text.
     *
     * @throws IllegalArgumentException if it is not in Base64
     */
    static byte[] decode(String text) {
        if (text.isEmpty()) {
            return new byte[0];
        }
        byte[] content = Base64.getDecoder().decode(text.substring(1));
        return message(text.charAt(0) - '0', content, content.length);
    }
}
