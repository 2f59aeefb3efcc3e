package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WatchEventsTest {

    /** Keeps the object's text, to see which bytes the decoder is given. */
    private final WatchEvents<String> events = new WatchEvents<>(
            "WATCH things",
            (json, offset, length) -> new Fetched<>(new String(json, offset, length, UTF_8), "7", length));

    @ParameterizedTest
    @ValueSource(strings = {"ADDED", "MODIFIED"})
    void decode_addedOrModified_isUpserted(String type) {
        assertThat(decode("{\"type\":\"" + type + "\",\"object\":{\"a\":[1,{}]}}"))
                .isEqualTo(new WatchEvent.Upserted<>(new Fetched<>("{\"a\":[1,{}]}", "7", 12)));
    }

    @Test
    void decode_deleted_isDeleted() {
        assertThat(decode("{\"type\":\"DELETED\",\"object\":{}}"))
                .isEqualTo(new WatchEvent.Deleted<>(new Fetched<>("{}", "7", 2)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ADDED", "MODIFIED", "DELETED"})
    void decode_objectThatNobodyAskedFor_isSkippedWithoutDecoding(String type) {
        WatchEvents<String> skipping = new WatchEvents<>("WATCH things", new ObjectDecoder<>() {
            @Override
            public Fetched<String> decode(byte[] json, int offset, int length) {
                throw new AssertionError("decoded");
            }

            @Override
            public String skippedVersion(byte[] json, int offset, int length) {
                return new String(json, offset, length, UTF_8);
            }
        });
        byte[] line = ("{\"type\":\"" + type + "\",\"object\":{\"a\":1}}").getBytes(UTF_8);

        assertThat(skipping.decode(line, 0, line.length)).isEqualTo(new WatchEvent.Undecoded<>("{\"a\":1}"));
    }

    @Test
    void decode_objectBeforeType_isTheSame() {
        assertThat(decode(" { \"object\" : {\"日本語\": \"🎉\"} , \"more\": [{}], \"type\" : \"ADDED\" } "))
                .isInstanceOfSatisfying(
                        WatchEvent.Upserted.class,
                        event -> assertThat(event.fetched().object()).isEqualTo("{\"日本語\": \"🎉\"}"));
    }

    @Test
    void decode_partOfALargerArray_readsOnlyThatPart() {
        String line = "{\"type\":\"ADDED\",\"object\":{\"x\":1}}";
        byte[] bytes = ("é...{" + line + "}}}").getBytes(UTF_8);

        assertThat(events.decode(bytes, 6, line.length()))
                .isEqualTo(new WatchEvent.Upserted<>(new Fetched<>("{\"x\":1}", "7", 7)));
    }

    @Test
    void decode_bookmark_hasTheVersion() {
        assertThat(
                        decode(
                                "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Secret\",\"metadata\":{\"resourceVersion\":\"12\"}}}"))
                .isEqualTo(new WatchEvent.Bookmark<>("12"));
    }

    @ParameterizedTest
    @CsvSource({"410, EXPIRED", "500, UNAVAILABLE", "429, THROTTLED", "403, FORBIDDEN"})
    void decode_error_isTheEndWithItsReason(int code, FailureReason reason) {
        ApiServerException failure = failure("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":" + code
                + ",\"message\":\"too old\",\"details\":{\"retryAfterSeconds\":3}}}");

        assertThat(failure.reason()).isEqualTo(reason);
        assertThat(failure.httpCode()).isEqualTo(code);
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofSeconds(3));
        assertThat(failure).hasMessage("WATCH things was answered " + code + ": too old");
    }

    @Test
    void decode_errorWithoutACode_isAFailureToRepeat() {
        assertThat(failure("{\"type\":\"ERROR\",\"object\":{}}").reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"ADDED\",\"object\":{\"password\":\"canary\"",
                "{\"type\":\"SURPRISE\",\"object\":{\"password\":\"canary\"}}",
                "{\"object\":{\"password\":\"canary\"}}",
                "{\"type\":null,\"object\":{\"password\":\"canary\"}}",
                "canary",
                "[\"canary\"]",
                "null",
                "{}",
                "{\"type\":\"BOOKMARK\",\"object\":{\"canary\":1}}",
                "{\"type\":\"BOOKMARK\"}"
            })
    void decode_whatIsNoEvent_isTheEndAndQuotesNothing(String line) {
        ApiServerException failure = failure(line);

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure).hasMessageStartingWith("WATCH things: an event").hasNoCause();
        assertThat(failure.getMessage()).doesNotContain("canary");
    }

    @Test
    void decode_decoderThatThrowsWhatItMayNot_isTheEndAndQuotesNothing() {
        WatchEvents<String> failing = new WatchEvents<>("WATCH things", (json, offset, length) -> {
            throw new IllegalStateException("canary");
        });
        WatchEvents<String> overflowing = new WatchEvents<>("WATCH things", (json, offset, length) -> {
            throw new StackOverflowError("canary");
        });
        byte[] line = "{\"type\":\"ADDED\",\"object\":{}}".getBytes(UTF_8);

        for (WatchEvents<String> each : List.of(failing, overflowing)) {
            assertThat(each.decode(line, 0, line.length)).isInstanceOfSatisfying(WatchEvent.Ended.class, ended -> {
                assertThat(ended.failure()).hasNoCause();
                assertThat(Objects.requireNonNull(ended.failure()).getMessage()).doesNotContain("canary");
            });
        }
    }

    private WatchEvent<String> decode(String line) {
        byte[] bytes = line.getBytes(UTF_8);
        return events.decode(bytes, 0, bytes.length);
    }

    private ApiServerException failure(String line) {
        WatchEvent<String> event = decode(line);
        assertThat(event).isInstanceOf(WatchEvent.Ended.class);
        return Objects.requireNonNull(((WatchEvent.Ended<String>) event).failure());
    }
}
