package dev.podcache.apiserver.credentials;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.TestCertificates;
import java.io.ByteArrayInputStream;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuthoritiesTest {

    private static final String DAMAGED = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

    @ParameterizedTest
    @CsvSource({"a_b.example, A_B.example", "*.example, a_b.example"})
    void checkServerTrusted_itsName_isTrusted(String certified, String name) throws Exception {
        X509Certificate[] chain = {ClientKeys.certificate(new TestCertificates().serverPemFor(certified))};

        assertThatCode(() -> trust(new TestCertificates(), name).checkServerTrusted(chain, "RSA"))
                .doesNotThrowAnyException();
    }

    @Test
    void checkServerTrusted_anotherName_isRefused() throws Exception {
        X509Certificate[] chain = {ClientKeys.certificate(new TestCertificates().serverPemFor("b.example"))};

        assertThatThrownBy(() -> trust(new TestCertificates(), "a_b.example").checkServerTrusted(chain, "RSA"))
                .isInstanceOf(CertificateException.class)
                .hasMessage("No subject alternative DNS name matching a_b.example found");
    }

    @Test
    void checkServerTrusted_anotherAuthority_isRefused() throws Exception {
        X509Certificate[] chain = {ClientKeys.certificate(new TestCertificates().serverPemFor("a_b.example"))};

        assertThatThrownBy(
                        () -> trust(TestCertificates.another(), "a_b.example").checkServerTrusted(chain, "RSA"))
                .isInstanceOf(CertificateException.class);
    }

    @Test
    void trusted_oneThatCannotBeRead_isPassedOver() throws Exception {
        String pem = new TestCertificates().authorityPem() + DAMAGED + "-----BEGIN CERTIFICATE-----\n*\n"
                + "-----END CERTIFICATE-----\n" + TestCertificates.another().authorityPem();

        assertThat(Authorities.trusted(new ByteArrayInputStream(pem.getBytes(US_ASCII)))
                        .getAcceptedIssuers())
                .hasSize(2);
    }

    @Test
    void trusted_noneThatCanBeRead_isRefused() {
        assertThatThrownBy(() -> Authorities.trusted(new ByteArrayInputStream(DAMAGED.getBytes(US_ASCII))))
                .isInstanceOf(CertificateException.class)
                .hasMessage("there is no certificate in PEM format that can be read");
    }

    private static X509TrustManager trust(TestCertificates authority, String name) throws Exception {
        byte[] pem = authority.authorityPem().getBytes(US_ASCII);
        return Authorities.named(Authorities.trusted(new ByteArrayInputStream(pem)), name);
    }
}
