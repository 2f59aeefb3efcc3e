package dev.podcache.apiserver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorAnswerTest {

    private static final String REQUEST = "GET Secret shop/db";
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    @Test
    void toException_notFoundWithAStatus_isTheAnswerOfAnApiServer() {
        ApiServerException failure = answered(404, "{'kind':'Status','message':'secrets \\'db\\' not found'}");

        assertThat(failure.reason()).isEqualTo(FailureReason.NOT_FOUND);
        assertThat(failure.httpCode()).isEqualTo(404);
        assertThat(failure).hasMessage("GET Secret shop/db was answered 404: secrets \"db\" not found");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "null", "[]", "<html>canary</html>", "{'kind':'Secret','message':'canary'}", "{'kind':1}"})
    void toException_notFoundWithoutAStatus_isNoAnswerOfAnApiServer(String body) {
        ApiServerException failure = answered(404, body);

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure.httpCode()).isEqualTo(404);
        assertThat(failure)
                .hasMessageContaining("GET Secret shop/db was answered 404 without a Status")
                .hasMessageNotContaining("canary");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<html>canary</html>", "{'kind':'Secret','message':'canary'}"})
    void toException_anotherErrorWithoutAStatus_isJudgedByItsCode(String body) {
        ApiServerException failure = answered(403, body);

        assertThat(failure.reason()).isEqualTo(FailureReason.FORBIDDEN);
        assertThat(failure).hasMessage("GET Secret shop/db was answered 403: (no Status in the answer)");
    }

    @Test
    void toException_badRequestWithoutAStatus_pointsToTheServersUrl() {
        ApiServerException failure = answered(400, "Client sent an HTTP request to an HTTPS server.");

        assertThat(failure.reason()).isEqualTo(FailureReason.REJECTED);
        assertThat(failure)
                .hasMessage(
                        "GET Secret shop/db was answered 400: (no Status in the answer; if the port expects TLS, use"
                                + " https in the server URL)");
    }

    @Test
    void toException_reasonOfTheStatus_counts() {
        assertThat(answered(504, "{'kind':'Status','reason':'Timeout'}").reason())
                .isEqualTo(FailureReason.TIMEOUT);
    }

    @Test
    void toException_causesOfTheStatus_count() {
        assertThat(answered(422, "{'kind':'Status','details':{'causes':[{'field':'spec'},{'field':'metadata.uid'}]}}")
                        .reason())
                .isEqualTo(FailureReason.CONFLICT);
    }

    @Test
    void toException_messageOfThreeHundredCharacters_isQuotedWhole() {
        assertThat(answered(500, "{'kind':'Status','message':'" + "m".repeat(300) + "'}"))
                .hasMessage("GET Secret shop/db was answered 500: " + "m".repeat(300));
    }

    @Test
    void toException_longerMessage_isCut() {
        assertThat(answered(500, "{'kind':'Status','message':'" + "m".repeat(301) + "'}"))
                .hasMessage("GET Secret shop/db was answered 500: " + "m".repeat(300) + "...");
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            0,                               0
            ' 7 ',                           7
            0000000007,                      7
            31535999,                        31535999
            31536001,                        31536000
            9999999999,                      31536000
            99999999999999999999999,         31536000
            'Thu, 01 Jan 2026 00:00:05 GMT', 5
            'Thu, 01 Jan 2026 00:00:00 GMT', 0
            'Wed, 31 Dec 2025 23:59:59 GMT', 0
            'Thu, 99 Jan 2026 00:00:05 GMT', -
            ' ',                             -
            '-1',                            -
            1.5,                             -
            7:,                              -
            7/,                              -
            soon,                            -
            -,                               -
            """)
    void toException_retryAfterHeader_isSecondsOrADateUpToAYear(@Nullable String header, @Nullable Long seconds) {
        ApiServerException failure = new ErrorAnswer(503, header, new byte[0]).toException(REQUEST, NOW);

        assertThat(failure.retryAfter()).isEqualTo(seconds == null ? null : Duration.ofSeconds(seconds));
    }

    @Test
    void toException_notFoundWithoutAStatus_keepsRetryAfter() {
        assertThat(new ErrorAnswer(404, "7", new byte[0])
                        .toException(REQUEST, NOW)
                        .retryAfter())
                .isEqualTo(Duration.ofSeconds(7));
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            7,            7
            2147483647,   31536000
            2147483648,   -
            1.5,          -
            '"7"',        -
            """)
    void toException_retryAfterInTheStatus_isWholeSecondsUpToAYear(String seconds, @Nullable Long expected) {
        ApiServerException failure = answered(429, "{'kind':'Status','details':{'retryAfterSeconds':" + seconds + "}}");

        assertThat(failure.retryAfter()).isEqualTo(expected == null ? null : Duration.ofSeconds(expected));
    }

    /** A Status of 40 KiB and a bit, in chunks of 40 KiB, of which the second crosses the bound. */
    @Test
    void add_chunkThatCrossesTheBound_isKeptUpToIt() {
        ErrorAnswer answer = new ErrorAnswer(403, null);
        answer.add(padded("{\"kind\":\"Status\","));
        answer.add(padded("\"reason\":\"Forbidden\",\"message\":\"no\"}"));
        answer.add("beyond".getBytes(UTF_8));

        assertThat(answer.toException(REQUEST, NOW)).hasMessage(REQUEST + " was answered 403: no");
    }

    /** Without the second chunk, the first and the third would be a Status that no server sent. */
    @Test
    void add_chunksBeyondTheBound_areIgnored() {
        ErrorAnswer answer = new ErrorAnswer(403, null);
        answer.add(padded("{\"kind\":\"Status\","));
        answer.add(padded("\"reason\":\"Forbidden\","));
        answer.add("\"message\":\"made up\"}".getBytes(UTF_8));

        assertThat(answer.toException(REQUEST, NOW))
                .hasMessage(REQUEST + " was answered 403: (no Status in the answer)");
    }

    private static byte[] padded(String json) {
        return (json + " ".repeat(40 * 1024 - json.length())).getBytes(UTF_8);
    }

    /** The body with single quotes, of which an escaped one stands for an escaped double quote. */
    private static ApiServerException answered(int code, String body) {
        return new ErrorAnswer(code, null, body.replace('\'', '"').getBytes(UTF_8)).toException(REQUEST, NOW);
    }
}
