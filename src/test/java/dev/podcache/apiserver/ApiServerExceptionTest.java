package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiServerExceptionTest {

    @ParameterizedTest
    @CsvSource({
        "400, REJECTED",
        "401, UNAUTHORIZED",
        "403, FORBIDDEN",
        "404, NOT_FOUND",
        "405, REJECTED",
        "408, TIMEOUT",
        "409, CONFLICT",
        "410, EXPIRED",
        "422, REJECTED",
        "429, THROTTLED",
        "500, UNAVAILABLE",
        "502, UNAVAILABLE",
        "503, UNAVAILABLE",
        "504, UNAVAILABLE",
        "301, REJECTED"
    })
    void answered_code_decidesTheReason(int code, FailureReason reason) {
        ApiServerException failure = ApiServerException.answered("GET x", code, null, null);

        assertThat(failure.reason()).isEqualTo(reason);
        assertThat(failure.httpCode()).isEqualTo(code);
        assertThat(failure).hasMessage("GET x was answered " + code);
    }

    @Test
    void answered_504OfTheApiServerItself_isATimeout() {
        Status status = new StatusBuilder()
                .withReason("Timeout")
                .withMessage("too slow")
                .build();

        ApiServerException failure = ApiServerException.answered("GET x", 504, status, null);

        assertThat(failure.reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failure).hasMessage("GET x was answered 504: too slow");
    }

    @Test
    void retryAfter_headerAndStatus_isTheLonger() {
        assertThat(retryAfter(Duration.ofSeconds(1), 5)).isEqualTo(Duration.ofSeconds(5));
        assertThat(retryAfter(Duration.ofSeconds(9), 5)).isEqualTo(Duration.ofSeconds(9));
    }

    @Test
    void retryAfter_oneOfThem_isThatOne() {
        assertThat(retryAfter(Duration.ofSeconds(1), null)).isEqualTo(Duration.ofSeconds(1));
        assertThat(retryAfter(null, 5)).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void retryAfter_neither_isNull() {
        assertThat(retryAfter(null, null)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"0", "-3"})
    void retryAfter_notPositiveInStatus_isIgnored(int seconds) {
        assertThat(retryAfter(null, seconds)).isNull();
    }

    @Test
    void withoutAnswer_hasNoCode() {
        ApiServerException failure =
                ApiServerException.withoutAnswer(FailureReason.TIMEOUT, "GET x", "no answer", null);

        assertThat(failure.httpCode()).isZero();
        assertThat(failure.retryAfter()).isNull();
        assertThat(failure).hasMessage("GET x: no answer");
    }

    private static @Nullable Duration retryAfter(@Nullable Duration header, @Nullable Integer seconds) {
        Status status = new StatusBuilder()
                .withNewDetails()
                .withRetryAfterSeconds(seconds)
                .endDetails()
                .build();
        return ApiServerException.answered("GET x", 429, status, header).retryAfter();
    }
}
