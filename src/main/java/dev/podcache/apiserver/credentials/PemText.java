package dev.podcache.apiserver.credentials;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * Finds the blocks of a PEM text, such as certificates and a key in one file, in any order. Takes a time in proportion to
 * the size of the text. Text outside of blocks, and blocks without an end, are passed over. Pure.
 */
public final class PemText {

    private static final String BEGIN = "-----BEGIN ";
    private static final String END = "-----END ";
    private static final String DASHES = "-----";

    private PemText() {}

    /** A block. {@code toString} does not show its content. */
    record Block(String type, String content, boolean encrypted) {

        boolean isPrivateKey() {
            return type.equals("PRIVATE KEY") || type.endsWith(" PRIVATE KEY");
        }

        /** Returns its content; empty if that is not base64, or there is none. */
        Optional<byte[]> der() {
            try {
                // not the MIME decoder: it passes over foreign characters, so that damaged text becomes other bytes
                return Optional.of(Base64.getDecoder().decode(content.replaceAll("\\s", "")))
                        .filter(der -> der.length > 0);
            } catch (IllegalArgumentException noBase64) {
                return Optional.empty();
            }
        }

        String pem() {
            return BEGIN + type + "-----\n" + content + END + type + "-----\n";
        }

        @Override
        public String toString() {
            return "PEM block of type " + type;
        }
    }

    static List<Block> blocks(String text) {
        List<Block> blocks = new ArrayList<>();
        String type = null;
        StringBuilder content = new StringBuilder();
        boolean encrypted = false;
        for (String raw : (Iterable<String>) text.lines()::iterator) {
            String line = raw.strip();
            if (line.startsWith(BEGIN) && line.endsWith(DASHES) && line.length() > BEGIN.length() + DASHES.length()) {
                type = line.substring(BEGIN.length(), line.length() - DASHES.length());
                content.setLength(0);
                encrypted = type.startsWith("ENCRYPTED ");
            } else if (type != null && line.startsWith(END)) {
                if (line.equals(END + type + DASHES)) {
                    blocks.add(new Block(type, content.toString(), encrypted));
                }
                type = null;
            } else if (type != null) {
                if (line.contains(":")) {
                    // a header of an older form
                    encrypted |= line.contains("ENCRYPTED");
                } else {
                    content.append(line).append('\n');
                }
            }
        }
        return blocks;
    }

    /** Returns the certificates in {@code pem}, in their order; empty if there is none. */
    public static String certificates(String pem) {
        StringBuilder certificates = new StringBuilder();
        for (Block block : blocks(pem)) {
            if (block.type().equals("CERTIFICATE")) {
                certificates.append(block.pem());
            }
        }
        return certificates.toString();
    }

    /** Returns the first private key in {@code pem}; empty if there is none. */
    public static String privateKey(String pem) {
        return blocks(pem).stream()
                .filter(Block::isPrivateKey)
                .map(Block::pem)
                .findFirst()
                .orElse("");
    }

    /** Returns the content of the first block of a type; empty if there is none, or it is damaged. */
    public static Optional<byte[]> der(String pem, String type) {
        return blocks(pem).stream()
                .filter(block -> block.type().equals(type))
                .findFirst()
                .flatMap(Block::der);
    }

    /** Returns the contents of all blocks of a type, in their order, without those that are damaged. */
    public static List<byte[]> ders(String pem, String type) {
        return blocks(pem).stream()
                .filter(block -> block.type().equals(type))
                .flatMap(block -> block.der().stream())
                .toList();
    }

    /**
     * Returns DER in PEM format.
     *
     * @param type such as {@code CERTIFICATE}
     */
    public static String of(String type, byte[] der) {
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return BEGIN + type + "-----\n" + base64 + "\n" + END + type + "-----\n";
    }

    static byte[] bytes(String pem) {
        return pem.getBytes(StandardCharsets.ISO_8859_1);
    }
}
