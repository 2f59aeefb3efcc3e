package dev.podcache.kubelet.certificate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TestCertificates;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each state in which a crash can leave the files has a usable certificate. */
class CertificateFilesTest {

    private static final Instant NOW = Instant.parse("2026-01-31T23:59:59Z");
    private static final Duration LIFE = Duration.ofDays(1);
    private static final int READS = 393;
    private static final int ROTATIONS = 150;

    @TempDir
    private Path directory;

    private TestCertificates authority;
    private CertificateFiles files;
    private CertifiedKey first;
    private CertifiedKey second;

    @BeforeEach
    void storeFirst() throws Exception {
        authority = new TestCertificates();
        files = new CertificateFiles(directory);
        first = identity("edge-1", KeyPairs.newPair());
        second = identity("edge-1", KeyPairs.newPair());
        files.store("edge-1", first, NOW);
    }

    private CertifiedKey identity(String node, KeyPair keys) throws GeneralSecurityException, IOException {
        String request = PemText.of("CERTIFICATE REQUEST", new SigningRequest(node, keys).encoded());
        return CertifiedKey.issued(authority.signedPem(request, NOW, NOW.plus(LIFE)), node, keys, NOW);
    }

    private Path file(String name) {
        return directory.resolve(name);
    }

    private void assertInUse(CertifiedKey identity) throws GeneralSecurityException, IOException {
        CertifiedKey read = new CertificateFiles(directory).read();
        assertThat(read.certificate()).isEqualTo(identity.certificate());
        assertThat(read.key()).isEqualTo(identity.key());
    }

    @Test
    void store_isALinkToADatedFileOfItsOwnerOnly() throws Exception {
        assertInUse(first);
        Path dated = file("kubelet-client-2026-01-31-23-59-59.pem");
        assertThat(files.current()).isEqualTo(file("kubelet-client-current.pem"));
        assertThat(Files.readSymbolicLink(files.current())).isEqualTo(dated);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dated)))
                .isEqualTo("rw-------");
        assertThat(Files.readString(dated))
                .startsWith("-----BEGIN CERTIFICATE-----")
                .contains("-----BEGIN PRIVATE KEY");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void store_another_replacesTheLink(long secondsLater) throws Exception {
        files.store("edge-1", second, NOW.plusSeconds(secondsLater));

        assertInUse(second);
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).hasSize(2 + (int) secondsLater);
        }
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void store_150TimesWhileOthersRead393Times_eachReadsAWholePair() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger reads = new AtomicInteger();
        List<CompletableFuture<Void>> readers = Stream.generate(
                        () -> CompletableFuture.runAsync(() -> readUntil(over, reads), NewThread.EACH))
                .limit(2)
                .toList();
        for (int i = 1; i <= ROTATIONS || reads.get() < READS; i++) {
            files.store("edge-1", i % 2 == 0 ? first : second, NOW.plusSeconds(i));
        }
        over.set(true);
        readers.forEach(CompletableFuture::join);

        assertThat(reads).hasValueGreaterThanOrEqualTo(READS);
    }

    /** The files refuse a certificate with another key. */
    private void readUntil(AtomicBoolean over, AtomicInteger reads) {
        try {
            while (!over.get()) {
                assertThat(files.read().certificate()).isIn(first.certificate(), second.certificate());
                reads.incrementAndGet();
            }
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void crash_whileThePairIsWritten_leavesTheOldOne() throws Exception {
        Files.writeString(file("kubelet-client-2026-02-01-00-00-00.pem.next"), "-----BEGIN CERT");

        assertInUse(first);
        files.store("edge-1", second, NOW.plusSeconds(1));
        assertInUse(second);
    }

    @Test
    void crash_beforeTheRename_leavesTheOldOne() throws Exception {
        Path dated = file("kubelet-client-2026-02-01-00-00-00.pem");
        Files.writeString(dated, second.pem());
        Files.createSymbolicLink(file("kubelet-client-updated.pem"), dated);

        assertInUse(first);
        files.store("edge-1", second, NOW.plusSeconds(1));
        assertInUse(second);
    }

    @Test
    void crash_ofAnUpstreamKubeletBetweenItsTwoSteps_isRepaired() throws Exception {
        Path dated = file("kubelet-client-2026-02-01-00-00-00.pem");
        Files.writeString(dated, second.pem());
        Files.createSymbolicLink(file("kubelet-client-updated.pem"), dated);
        Files.delete(files.current());

        assertInUse(second);
        assertThat(file("kubelet-client-updated.pem")).doesNotExist();
    }

    @Test
    void crash_beforeTheKeyOfTheRequestIsForgotten_makesANewKey() throws Exception {
        SigningRequest request = files.request("edge-1");
        files.store("edge-1", identity("edge-1", request.keys()), NOW);

        assertThat(files.request("edge-1").key()).isNotEqualTo(request.key());
    }

    @Test
    void request_pending_isFoundAgain() throws IOException {
        SigningRequest request = files.request("edge-1");

        assertThat(new CertificateFiles(directory).request("edge-1").key()).isEqualTo(request.key());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file("kubelet-client.key.tmp"))))
                .isEqualTo("rw-------");

        files.dropRequest();
        assertThat(files.request("edge-1").key()).isNotEqualTo(request.key());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "nonsense", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"})
    void request_damaged_isReplaced(String content) throws IOException {
        Files.writeString(file("kubelet-client.key.tmp"), content);

        SigningRequest request = files.request("edge-1");

        assertThat(files.request("edge-1").key()).isEqualTo(request.key());
    }

    @Test
    void read_ofAKubeletsKey_worksToo() throws Exception {
        byte[] sec1 = PrivateKeyInfo.getInstance(first.key().getEncoded())
                .parsePrivateKey()
                .toASN1Primitive()
                .getEncoded();
        Files.writeString(files.current(), first.chain() + PemText.of("EC PRIVATE KEY", sec1));

        CertifiedKey read = files.read();

        assertThat(read.key()).isEqualTo(first.key());
    }

    @Test
    void read_ofAKeyThatDoesNotBelongToTheCertificate_isRefused() throws IOException {
        Files.writeString(files.current(), first.chain() + KeyPairs.pem(second.key()));

        assertThatThrownBy(files::read)
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessageContaining("the key is not the key of the certificate");
    }

    @Test
    void read_ofADamagedKey_saysSoWithoutTheKey() throws IOException {
        String secret = Base64.getEncoder().encodeToString(NoLeaks.CANARY.getBytes(StandardCharsets.US_ASCII));
        Files.writeString(
                files.current(),
                first.chain() + "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----\n");

        assertThatThrownBy(files::read)
                .isInstanceOf(GeneralSecurityException.class)
                .hasMessage("the private key cannot be read")
                .hasNoCause();
    }

    @Test
    void current_thatIsNoLink_isNotReplaced() throws Exception {
        Files.delete(files.current());
        Files.writeString(files.current(), first.pem());

        assertThatThrownBy(() -> files.store("edge-1", second, NOW))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("must be a symbolic link");
        assertInUse(first);
    }

    @Test
    void toString_ofAnIdentity_doesNotShowItsKey() {
        assertThat(first.toString()).contains("CN=system:node:edge-1").doesNotContain("PRIVATE", "key");
    }
}
