package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.Subject;
import dev.podcache.testing.TestCertificates;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClientCertificatesTest {

    private static final TestCertificates AUTHORITY = ServerFixture.certificates();

    @Test
    void userOf_signedCertificate_hasNameAndGroupsInOrder() throws Exception {
        assertThat(userOf(AUTHORITY.userPem("jane", "b", "a")).orElseThrow())
                .extracting(Subject::name, Subject::groups)
                .containsExactly("jane", List.of("b", "a"));
    }

    @Test
    void userOf_nameWithSeparators_isNotTakenApart() throws Exception {
        assertThat(userOf(AUTHORITY.userPem("jane,O=system:masters", "x+CN=root"))
                        .orElseThrow())
                .extracting(Subject::name, Subject::groups)
                .containsExactly("jane,O=system:masters", List.of("x+CN=root"));
    }

    @Test
    void userOf_expired_isEmpty() throws Exception {
        assertThat(userOf(AUTHORITY.userPemUntil(Instant.now().minus(Duration.ofHours(1)), "jane")))
                .isEmpty();
    }

    @Test
    void userOf_forServersOnly_isEmpty() throws Exception {
        assertThat(userOf(AUTHORITY.serverPem())).isEmpty();
    }

    @Test
    void userOf_anotherAuthority_isEmpty() throws Exception {
        assertThat(userOf(TestCertificates.another().userPem("jane"))).isEmpty();
    }

    @Test
    void userOf_noCertificateOrNoAuthority_isEmpty() throws Exception {
        assertThat(trusted().userOf(List.of())).isEmpty();
        assertThat(ClientCertificates.NONE.userOf(List.of(certificate(AUTHORITY.userPem("jane")))))
                .isEmpty();
    }

    @Test
    void signedBy_emptyFile_isRefused() {
        assertThatThrownBy(() -> ClientCertificates.signedBy(new byte[0])).isInstanceOf(CertificateException.class);
    }

    private static Optional<Subject> userOf(String pem) throws Exception {
        return trusted().userOf(List.of(certificate(pem)));
    }

    private static ClientCertificates trusted() throws Exception {
        return ClientCertificates.signedBy(AUTHORITY.authorityPem().getBytes(StandardCharsets.US_ASCII));
    }

    private static X509Certificate certificate(String pem) throws CertificateException {
        return (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    }
}
