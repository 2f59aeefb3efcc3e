package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.testing.HostileJson;
import dev.podcache.testing.NoLeaks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Bytes of a watch, whatever they are and however they are cut into chunks: events, or the end with a cause. */
class WatchReaderProperties {

    private static final int LONGEST = 4096;

    private static final byte[] EVENTS = ("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Secret\",\"data\":{\"k\":\""
                    + NoLeaks.CANARY
                    + "\"}}}\n"
                    + "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"12\"}}}\n"
                    + "{\"type\":\"DELETED\",\"object\":{\"data\":[\"" + NoLeaks.CANARY + "\"]}}\n"
                    + "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\","
                    + "\"details\":{\"retryAfterSeconds\":3,\"causes\":[{\"field\":\"a\"}]}}}\n")
            .getBytes(UTF_8);

    private final WatchEvents<String> decoder = new WatchEvents<>(
            "WATCH things",
            (json, offset, length) -> new Fetched<>(new String(json, offset, length, UTF_8), "7", length));

    @Property
    void anyBytes_inAnyChunks_areEventsOrTheEnd(@ForAll long seed) {
        byte[] bytes = HostileJson.mutated(EVENTS, seed);

        // another decoder, because chunks must not matter
        assertThat(read(bytes, new Random(seed))).isEqualTo(read(bytes, null));
    }

    @Property
    void noise_inAnyChunks_isTheEnd(@ForAll byte[] noise, @ForAll long seed) {
        assertThat(read(noise, new Random(seed))).isEqualTo(read(noise, null));
    }

    @Example
    void eachValueReplaced_isAnEventOrTheEnd() {
        for (byte[] line : lines()) {
            for (String value : HostileJson.VALUES) {
                HostileJson.withEachValueReplaced(line, value)
                        .forEach(replaced -> requireDecent(decoder.decode(replaced, 0, replaced.length)));
            }
        }
    }

    @Example
    void lineWithoutEnd_isRefusedAtItsBound() {
        LineDecoder lines = new LineDecoder(LONGEST);
        byte[] chunk = new byte[100];
        int taken = 0;
        while (lines.accept(chunk, (bytes, offset, length) -> {})) {
            taken += chunk.length;
            assertThat(taken).isLessThanOrEqualTo(LONGEST);
        }
        assertThat(taken).isEqualTo(LONGEST / chunk.length * chunk.length);
    }

    /** What comes of the bytes until a line is too long, as text. */
    private List<String> read(byte[] bytes, @org.jspecify.annotations.Nullable Random random) {
        List<String> seen = new ArrayList<>();
        LineDecoder lines = new LineDecoder(LONGEST);
        int at = 0;
        boolean fits = true;
        while (fits && at < bytes.length) {
            int end = random == null ? bytes.length : Math.min(bytes.length, at + 1 + random.nextInt(60));
            fits = lines.accept(Arrays.copyOfRange(bytes, at, end), (line, offset, length) -> {
                WatchEvent<String> event = decoder.decode(line, offset, length);
                requireDecent(event);
                seen.add(
                        event instanceof WatchEvent.Ended<String> ended
                                ? "ended " + String.valueOf(ended.failure())
                                : event.toString());
            });
            at = end;
        }
        return seen;
    }

    private static void requireDecent(WatchEvent<String> event) {
        if (event instanceof WatchEvent.Ended<String> ended) {
            ApiServerException failure = Objects.requireNonNull(ended.failure());
            assertThat(failure.getMessage()).hasSizeLessThan(600).doesNotContain(NoLeaks.CANARY);
            assertThat(failure).hasNoCause();
        }
    }

    private static List<byte[]> lines() {
        return new String(EVENTS, UTF_8)
                .lines()
                .map(line -> line.getBytes(UTF_8))
                .toList();
    }
}
