package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Bytes;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** Generates invalid and unusual JSON from valid documents, by changing bytes or values. Repeatable from a seed. */
public final class HostileJson {

    /** Values to put in place of an expected value: of every type, and at and beyond the limits of parsers. */
    public static final ImmutableList<String> VALUES = ImmutableList.of(
            "null",
            "true",
            "0",
            "-1",
            "-0.0",
            "1e999999999",
            "-1e-999999999",
            "9223372036854775808",
            "9".repeat(100_000),
            "01",
            "NaN",
            "\"\"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"\\udc00\\ud800 x\"",
            "\"\\x\"",
            "\"\\u",
            "\"\\U",
            "\"\\Uffffffff\"",
            "!!%9",
            "\"\u0007\"",
            "\"unfinished",
            "\"" + "x".repeat(200_000) + "\"",
            "'x'",
            "[]",
            "{}",
            "[null]",
            "[[[]]]",
            "{\"\":null}",
            "{\"" + "n".repeat(100_000) + "\":1}",
            "{\"a\":1,\"a\":[]}",
            nested("[", "]", 900),
            nested("{\"a\":", "}", 900),
            nested("[", "]", 100_000),
            nested("{\"a\":", "}", 100_000),
            "[".repeat(100_000),
            "{\"a\":".repeat(100_000),
            "/* x */ 1",
            "");

    private static final ImmutableList<byte[]> STRANGE_BYTES = ImmutableList.of(
            new byte[] {0},
            new byte[] {(byte) 0xff},
            new byte[] {(byte) 0xc0, (byte) 0x80},
            new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
            new byte[] {(byte) 0xf8, (byte) 0x88, (byte) 0x80, (byte) 0x80, (byte) 0x80},
            new byte[] {(byte) 0xef, (byte) 0xbb, (byte) 0xbf},
            new byte[] {'\r', '\n'},
            new byte[] {'"'},
            new byte[] {'\\'});

    private static final JsonFactory JSON = new JsonFactory();

    private HostileJson() {}

    private static String nested(String open, String close, int levels) {
        return open.repeat(levels) + "1" + close.repeat(levels);
    }

    /** The position of a value or field name. */
    private record Span(int from, int to) {}

    /** Returns {@code valid} with one to three small mutations. */
    public static byte[] mutated(byte[] valid, long seed) {
        Random random = new Random(seed);
        byte[] result = valid;
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            result = accident(result, random);
        }
        return result;
    }

    /** Returns one copy of {@code valid} per value in it, with this value replaced by {@code value}. */
    public static List<byte[]> withEachValueReplaced(byte[] valid, String value) {
        return values(valid).stream().map(span -> replaced(valid, span, value)).toList();
    }

    /** Returns {@code valid} truncated after each byte but the last. */
    public static List<byte[]> truncations(byte[] valid) {
        List<byte[]> all = new ArrayList<>();
        for (int length = 0; length < valid.length; length++) {
            all.add(Arrays.copyOf(valid, length));
        }
        return all;
    }

    private static byte[] accident(byte[] json, Random random) {
        int at = random.nextInt(json.length + 1);
        int to = at + random.nextInt(Math.min(64, json.length - at + 1));
        return switch (random.nextInt(8)) {
            case 0 -> Arrays.copyOf(json, at);
            case 1 -> flipped(json, random);
            case 2 ->
                spliced(
                        json,
                        at,
                        at,
                        random.ints(4)
                                .mapToObj(i -> "" + (char) (i & 0x7f))
                                .reduce("", String::concat)
                                .getBytes(UTF_8));
            case 3 -> spliced(json, at, to, new byte[0]);
            case 4 -> spliced(json, at, at, Arrays.copyOfRange(json, at, to));
            case 5 -> spliced(json, at, at, STRANGE_BYTES.get(random.nextInt(STRANGE_BYTES.size())));
            default -> withAValueReplaced(json, random);
        };
    }

    private static byte[] flipped(byte[] json, Random random) {
        byte[] copy = json.clone();
        if (copy.length > 0) {
            copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return copy;
    }

    private static byte[] withAValueReplaced(byte[] json, Random random) {
        List<Span> values = values(json);
        return values.isEmpty()
                ? json
                : replaced(json, values.get(random.nextInt(values.size())), VALUES.get(random.nextInt(VALUES.size())));
    }

    private static byte[] replaced(byte[] json, Span span, String value) {
        return spliced(json, span.from, span.to, value.getBytes(UTF_8));
    }

    private static byte[] spliced(byte[] json, int from, int to, byte[] middle) {
        return Bytes.concat(Arrays.copyOf(json, from), middle, Arrays.copyOfRange(json, to, json.length));
    }

    /**
     * Returns the positions of the values, up to the first syntax error. Returns none for text that a parser takes for
     * UTF-16 or UTF-32, because it reports no byte offsets then.
     */
    private static List<Span> values(byte[] json) {
        List<Span> values = new ArrayList<>();
        Deque<Integer> open = new ArrayDeque<>();
        try (JsonParser parser = JSON.createParser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                int from = (int) parser.currentTokenLocation().getByteOffset();
                parser.finishToken();
                int to = (int) parser.currentLocation().getByteOffset();
                if (from < 0) {
                    return values;
                }
                if (token.isStructStart()) {
                    open.push(from);
                } else {
                    values.add(new Span(token.isStructEnd() ? open.pop() : from, to));
                }
            }
        } catch (IOException endOfWhatIsJson) {
            return values;
        }
        return values;
    }
}
