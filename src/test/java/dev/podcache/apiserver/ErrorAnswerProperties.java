package dev.podcache.apiserver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.HostileJson;
import java.time.Duration;
import java.time.Instant;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

/** Whatever a server or a proxy answers: a failure with facts within their bounds, on one line. */
class ErrorAnswerProperties {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final byte[] STATUS =
            ("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                            + "\"message\":\"too many requests\",\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":3,"
                            + "\"causes\":[{\"reason\":\"a\",\"field\":\"metadata.uid\"}]},\"code\":429}")
                    .getBytes(UTF_8);

    @Property
    void toException_mutatedStatus_isAFailureWithinBounds(
            @ForAll @IntRange(min = -1, max = 1000) int code,
            @ForAll("headers") @Nullable String retryAfter,
            @ForAll long seed) {
        requireDecent(code, retryAfter, HostileJson.mutated(STATUS, seed));
    }

    @Property
    void toException_noise_isAFailureWithinBounds(@ForAll int code, @ForAll String header, @ForAll byte[] noise) {
        requireDecent(code, header, noise);
    }

    @Example
    void toException_eachValueReplaced_isAFailureWithinBounds() {
        for (String value : HostileJson.VALUES) {
            HostileJson.withEachValueReplaced(STATUS, value).forEach(body -> requireDecent(429, value, body));
        }
    }

    @Example
    void toException_messageOfSeveralLines_isOne() {
        byte[] body = "{\"kind\":\"Status\",\"message\":\"no\\r\\nERROR forged\\u001b[31m\\u2028x\"}".getBytes(UTF_8);

        requireDecent(403, null, body);
    }

    @Provide
    Arbitrary<String> headers() {
        return Arbitraries.of(
                        "0",
                        "1",
                        "-1",
                        "9223372036",
                        "9999999999",
                        "99999999999999999999999",
                        "1e9",
                        "Fri, 31 Dec 9999 23:59:59 GMT",
                        "Thu, 01 Jan 1970 00:00:00 GMT",
                        "Fri, 31 Dec +999999999 23:59:59 GMT",
                        "\u0663")
                .injectNull(0.1);
    }

    private static void requireDecent(int code, @Nullable String retryAfter, byte[] body) {
        ApiServerException failure = new ErrorAnswer(code, retryAfter, body).toException("GET Secret shop/db", NOW);

        assertThat(failure.reason()).isNotNull();
        assertThat(failure.getMessage()).hasSizeLessThan(450).doesNotContainPattern("[\\p{Cc}\\u2028\\u2029]");
        Duration pause = failure.retryAfter();
        if (pause != null) {
            assertThat(pause).isBetween(Duration.ZERO, Duration.ofDays(365));
        }
    }
}
