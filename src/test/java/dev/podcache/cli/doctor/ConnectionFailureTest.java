package dev.podcache.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.NoAnswer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.security.SignatureException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ConnectionFailureTest {

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(tls(expired()), "tls", "the server's certificate has expired", "kubeadm certs renew"),
                Arguments.of(tls(new CertificateNotYetValidException("NotBefore: x")), "tls", "not valid yet", "clock"),
                Arguments.of(
                        tls(new CertPathBuilderException("unable to find valid certification path")),
                        "tls",
                        "not from the authority in the kubeconfig",
                        "certificate-authority-data"),
                Arguments.of(
                        tls(new SignatureException("Signature does not match.")),
                        "tls",
                        "not from the authority in the kubeconfig",
                        "certificate-authority-data"),
                Arguments.of(
                        tls(new CertificateException("No subject alternative names matching IP address")),
                        "tls",
                        "is for other names",
                        "tls-server-name"),
                Arguments.of(
                        new SSLHandshakeException("Received fatal alert: bad_certificate"),
                        "tls",
                        "refuses the client certificate",
                        "client certificate"),
                Arguments.of(new SSLException("not an SSL/TLS record"), "tls", "not an SSL/TLS record", "speaks TLS"),
                Arguments.of(new UnknownHostException("nowhere"), "server", "could not be resolved", "DNS"),
                Arguments.of(new ConnectException("Connection refused"), "server", "Connection refused", "runs there"),
                Arguments.of(new TimeoutException(), "server", "in time", "NO_PROXY"),
                Arguments.of(new IOException("proxy says no"), "server", "proxy says no", "HTTPS_PROXY"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void of_failure_saysWhatAndWhatToDo(Throwable failure, String check, String what, String remedy) {
        Diagnosis diagnosis = ConnectionFailure.of(NoAnswer.because("GET /version", "https://example.dev", failure));

        assertThat(diagnosis.isProblem()).isTrue();
        assertThat(diagnosis.check()).isEqualTo(check);
        assertThat(diagnosis.what()).contains(what);
        assertThat(diagnosis.why()).isNotEmpty();
        assertThat(diagnosis.remedy()).contains(remedy);
    }

    @Test
    void event_problem_hasThreeLines() {
        assertThat(Diagnosis.problem("tls", "a", "b", "c").event(false).text().lines())
                .containsExactly(
                        "problem  tls          a", "                      why: b", "                      do:  c");
    }

    private static Exception expired() {
        return new CertPathValidatorException("validity check failed", new CertificateExpiredException("NotAfter: x"));
    }

    private static Exception tls(Exception cause) {
        Exception failed = new SSLHandshakeException("PKIX");
        failed.initCause(cause);
        return failed;
    }
}
