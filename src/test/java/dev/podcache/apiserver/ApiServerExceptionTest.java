package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiServerExceptionTest {

    private static final String REQUEST = "GET Secret shop/db";

    @ParameterizedTest
    @CsvSource(textBlock = """
                    400, BadRequest,            REJECTED
                    401, Unauthorized,          UNAUTHORIZED
                    403, Forbidden,             FORBIDDEN
                    404, NotFound,              NOT_FOUND
                    405, MethodNotAllowed,      REJECTED
                    408, Timeout,               TIMEOUT
                    409, AlreadyExists,         ALREADY_EXISTS
                    409, Conflict,              CONFLICT
                    410, Expired,               EXPIRED
                    410, Gone,                  EXPIRED
                    413, RequestEntityTooLarge, REJECTED
                    415, UnsupportedMediaType,  REJECTED
                    422, Invalid,               REJECTED
                    429, TooManyRequests,       THROTTLED
                    500, InternalError,         UNAVAILABLE
                    500, ServerTimeout,         UNAVAILABLE
                    502, ,                      UNAVAILABLE
                    503, ServiceUnavailable,    UNAVAILABLE
                    504, Timeout,               TIMEOUT
                    504, ,                      UNAVAILABLE
                    302, ,                      REJECTED
                    """)
    void answered_codeAndStatusReason_giveTheReason(int code, @Nullable String reason, FailureReason expected) {
        Status status = new StatusBuilder().withReason(reason).build();

        assertThat(ApiServerException.answered(REQUEST, code, status, null).reason())
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"metadata.uid, CONFLICT", "metadata.name, REJECTED"})
    void answered_invalidBecauseOfTheUid_isAConflict(String field, FailureReason expected) {
        Status status = new StatusBuilder()
                .withReason("Invalid")
                .withNewDetails()
                .addNewCause()
                .withField(field)
                .endCause()
                .endDetails()
                .build();

        assertThat(ApiServerException.answered(REQUEST, 422, status, null).reason())
                .isEqualTo(expected);
    }

    @Test
    void answered_withAStatus_quotesItsMessage() {
        Status status =
                new StatusBuilder().withMessage("secrets \"db\" is forbidden").build();

        assertThat(ApiServerException.answered(REQUEST, 403, status, null))
                .hasMessage("GET Secret shop/db was answered 403: secrets \"db\" is forbidden")
                .hasNoCause();
    }

    @Test
    void answered_withoutAStatus_tellsTheCode() {
        ApiServerException failure = ApiServerException.answered(REQUEST, 502, null, null);

        assertThat(failure).hasMessage("GET Secret shop/db was answered 502");
        assertThat(failure.httpCode()).isEqualTo(502);
        assertThat(failure.retryAfter()).isNull();
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            5,  ,  5
             , 7,  7
            5, 7,  7
            7, 5,  7
             , 0,
             , -1,
            3, 0,  3
            """)
    void answered_headerAndStatus_theLongerWaitCounts(
            @Nullable Integer header, @Nullable Integer inStatus, @Nullable Integer expected) {
        Status status = new StatusBuilder()
                .withNewDetails()
                .withRetryAfterSeconds(inStatus)
                .endDetails()
                .build();

        ApiServerException failure = ApiServerException.answered(REQUEST, 429, status, seconds(header));

        assertThat(failure.retryAfter()).isEqualTo(seconds(expected));
    }

    @Test
    void withoutAnswer_anyCause_hasNoCode() {
        Exception cause = new IllegalStateException("reset");

        ApiServerException failure =
                ApiServerException.withoutAnswer(FailureReason.TIMEOUT, REQUEST, "no answer within 10 s", cause);

        assertThat(failure)
                .hasMessage("GET Secret shop/db: no answer within 10 s")
                .hasCause(cause);
        assertThat(failure.reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failure.httpCode()).isZero();
    }

    private static @Nullable Duration seconds(@Nullable Integer seconds) {
        return seconds == null ? null : Duration.ofSeconds(seconds);
    }

    @Test
    void causeOf_isWhatAStageHasWrapped() {
        IllegalStateException failure = new IllegalStateException("down");

        assertThat(ApiServerException.causeOf(new CompletionException(failure))).isSameAs(failure);
        assertThat(ApiServerException.causeOf(failure)).isSameAs(failure);
    }

    @Test
    void causeOf_nothingWrapped_isWhatThereIs() {
        CompletionException empty = new CompletionException(null);

        assertThat(ApiServerException.causeOf(empty)).isSameAs(empty);
        assertThat(ApiServerException.causeOf(null)).isInstanceOf(AssertionError.class);
    }
}
