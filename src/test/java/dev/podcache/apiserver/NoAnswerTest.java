package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class NoAnswerTest {

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(new TimeoutException(), FailureReason.TIMEOUT, "no answer from https://api in time"),
                Arguments.of(new SocketTimeoutException(), FailureReason.TIMEOUT, "no answer from https://api in time"),
                Arguments.of(
                        new UnknownHostException("api"),
                        FailureReason.UNAVAILABLE,
                        "the host name in https://api could not be resolved: check the server URL and the DNS"),
                Arguments.of(
                        new ConnectException("refused"),
                        FailureReason.UNAVAILABLE,
                        "no connection to https://api (refused)"),
                Arguments.of(
                        new SSLHandshakeException("untrusted"),
                        FailureReason.UNAVAILABLE,
                        "no TLS connection to https://api (untrusted): check the CA, the server name and the client"
                                + " certificate"),
                Arguments.of(
                        new SSLHandshakeException("failed").initCause(new CertificateException("unknown authority")),
                        FailureReason.UNAVAILABLE,
                        "no TLS connection to https://api (unknown authority): check the CA, the server name and the"
                                + " client certificate"),
                Arguments.of(
                        new IOException("reset"),
                        FailureReason.UNAVAILABLE,
                        "the connection to https://api failed (reset)"),
                Arguments.of(
                        new ClosedChannelException(),
                        FailureReason.UNAVAILABLE,
                        "the connection to https://api was closed"),
                Arguments.of(
                        new IllegalStateException("x"),
                        FailureReason.UNAVAILABLE,
                        "the connection to https://api failed (java.lang.IllegalStateException)"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void because_thrown_namesRequestServerAndReason(Throwable thrown, FailureReason reason, String why) {
        ApiServerException failure = NoAnswer.because("GET x", "https://api", new CompletionException(thrown));

        assertThat(failure.reason()).isEqualTo(reason);
        assertThat(failure).hasMessage("GET x: " + why).hasCause(thrown);
    }

    @Test
    void because_connectionIsResetDuringTheHandshake_isNoFaultOfCertificates() {
        IOException reset = new IOException("Connection reset by peer");
        Throwable thrown = new SSLHandshakeException("Failed to create SSL connection").initCause(reset);

        ApiServerException failure = NoAnswer.because("GET x", "https://api", thrown);

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure)
                .hasMessage("GET x: the connection to https://api failed (Connection reset by peer)")
                .hasCause(reset);
    }

    @Test
    void because_illegalHeader_dropsTheCauseWhichMayQuoteAToken() {
        ApiServerException failure =
                NoAnswer.because("GET x", "https://api", new IllegalArgumentException("Bearer canary\n"));

        assertThat(failure).hasNoCause();
        assertThat(failure.getMessage())
                .doesNotContain("canary")
                .endsWith("the request to https://api or its answer was not valid HTTP: check the server URL, and that"
                        + " the token and the headers contain no line break");
    }

    @Test
    void because_completionWithoutCause_isTheFailureItself() {
        CompletionException bare = new CompletionException(null);

        assertThat(NoAnswer.because("GET x", "https://api", bare)).hasCause(bare);
    }

    @Test
    void because_failureOfOurs_isThatOne() {
        ApiServerException ours = ApiServerException.answered("GET x", 403, null, null);

        assertThat(NoAnswer.because("GET x", "https://api", new CompletionException(ours)))
                .isSameAs(ours);
    }
}
