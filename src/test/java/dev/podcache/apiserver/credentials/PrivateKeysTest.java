package dev.podcache.apiserver.credentials;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.Comparators;
import dev.podcache.testing.TestCertificates;
import java.io.ByteArrayInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The forms of keys are those that {@code openssl} and Go write, and kubectl reads. */
class PrivateKeysTest {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Far less than what takes quadratic time needs for megabytes. */
    private static final Duration NO_TIME = Duration.ofSeconds(2);

    private static final int TRIES = 5;

    private static KeyPair ec(String curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve));
        return generator.generateKeyPair();
    }

    private static byte[] sec1(KeyPair pair, ASN1ObjectIdentifier curve, int bits) throws Exception {
        return new org.bouncycastle.asn1.sec.ECPrivateKey(
                        bits,
                        ((ECPrivateKey) pair.getPrivate()).getS(),
                        SubjectPublicKeyInfo.getInstance(pair.getPublic().getEncoded())
                                .getPublicKeyData(),
                        curve)
                .getEncoded();
    }

    @ParameterizedTest
    @CsvSource({"secp256r1, 1.2.840.10045.3.1.7, 256", "secp384r1, 1.3.132.0.34, 384", "secp521r1, 1.3.132.0.35, 521"})
    void read_ecKeyInEachForm_isTheKey(String curve, String identifier, int bits) throws Exception {
        KeyPair pair = ec(curve);
        byte[] sec1 = sec1(pair, new ASN1ObjectIdentifier(identifier), bits);
        String parameters = PemText.of("EC PARAMETERS", new ASN1ObjectIdentifier(identifier).getEncoded());
        String pkcs8 = PemText.of("PRIVATE KEY", pair.getPrivate().getEncoded());

        assertSame(pair, pkcs8);
        assertSame(pair, PemText.of("EC PRIVATE KEY", sec1));
        assertSame(pair, parameters + PemText.of("EC PRIVATE KEY", sec1));
        assertSame(pair, PemText.of("EC PRIVATE KEY", pair.getPrivate().getEncoded()));
        assertSame(pair, "# comment\r\n" + pkcs8.replace("\n", "\r\n"));
    }

    @Test
    void read_ecKeyThatDoesNotNameItsCurve_isOnTheCurveBesideIt() throws Exception {
        KeyPair pair = ec("secp384r1");
        byte[] bare =
                new org.bouncycastle.asn1.sec.ECPrivateKey(384, ((ECPrivateKey) pair.getPrivate()).getS()).getEncoded();

        assertSame(
                pair,
                PemText.of("EC PARAMETERS", SECObjectIdentifiers.secp384r1.getEncoded())
                        + PemText.of("EC PRIVATE KEY", bare));
    }

    @Test
    void read_rsaKeyInEachForm_isTheKey() throws Exception {
        String pkcs8 = new TestCertificates().privateKeyPem();
        PrivateKey key = PrivateKeys.read(pkcs8);
        byte[] pkcs1 = PrivateKeyInfo.getInstance(key.getEncoded())
                .parsePrivateKey()
                .toASN1Primitive()
                .getEncoded();

        assertThat(key.getAlgorithm()).isEqualTo("RSA");
        assertThat(PrivateKeys.read(PemText.of("RSA PRIVATE KEY", pkcs1))).isEqualTo(key);
        assertThat(PrivateKeys.read(PemText.of("PRIVATE KEY", pkcs1))).isEqualTo(key);
    }

    @Test
    void read_ed25519Key_isTheKeyOfItsPublicKeyOnly() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        KeyPair other = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();

        assertSame(pair, PemText.of("PRIVATE KEY", pair.getPrivate().getEncoded()));
        assertThatThrownBy(() -> PrivateKeys.requirePair(other.getPublic(), pair.getPrivate()))
                .hasMessage("the key is not the key of the certificate");
    }

    private static void assertSame(KeyPair pair, String pem) throws GeneralSecurityException {
        PrivateKeys.requirePair(pair.getPublic(), PrivateKeys.read(pem));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "canary",
                "-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n",
                "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
                "-----BEGIN PRIVATE KEY-----\n!canary\n-----END PRIVATE KEY-----\n",
                "-----BEGIN EC PRIVATE KEY-----\nMIT/////\n-----END EC PRIVATE KEY-----\n",
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n",
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMAA=\n-----END RSA PRIVATE KEY-----\n",
                "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END CERTIFICATE-----\n"
            })
    void read_noKey_isRefusedAndNotQuoted(String pem) {
        assertThatThrownBy(() -> PrivateKeys.read(pem))
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessageContaining("private key")
                .hasMessageNotContaining("canary")
                .hasNoCause();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-----BEGIN A-----",
                "-----BEGIN A-----\n",
                "-----BEGIN PRIVATE KEY-----\n",
                "-----END A-----\n",
                "-"
            })
    void everyReader_megabytesOfOneLine_takesNoTime(String line) {
        String text = line.repeat((2 << 20) / line.length());

        // of this thread, which may have to wait for a processor; and of the best try, because the first ones are
        // interpreted
        Duration shortest = ChronoUnit.FOREVER.getDuration();
        for (int i = 0; i < TRIES && shortest.compareTo(NO_TIME) >= 0; i++) {
            long before = THREADS.getCurrentThreadCpuTime();
            assertThat(PemText.certificates(text)).isEmpty();
            assertThat(PemText.privateKey(text)).isEmpty();
            assertThatThrownBy(() -> PrivateKeys.read(text)).isInstanceOf(GeneralSecurityException.class);
            assertThatThrownBy(() -> Authorities.trusted(new ByteArrayInputStream(text.getBytes(US_ASCII))))
                    .isInstanceOf(GeneralSecurityException.class);
            shortest = Comparators.min(shortest, Duration.ofNanos(THREADS.getCurrentThreadCpuTime() - before));
        }
        assertThat(shortest).isLessThan(NO_TIME);
    }

    @Test
    void certificates_ofAChainInAnyOrder_keepTheirOrder() throws Exception {
        TestCertificates authority = new TestCertificates();
        String own = authority.userPem("jane");
        String issuer = authority.authorityPem();

        assertThat(PemText.certificates("# comment\n" + own + authority.privateKeyPem() + issuer))
                .isEqualTo(own + issuer);
    }
}
