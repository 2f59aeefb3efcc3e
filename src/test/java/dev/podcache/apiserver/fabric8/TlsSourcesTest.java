package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.vertx.core.http.HttpVersion;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.Provider;
import java.security.Security;
import java.security.cert.CertificateFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which authorities a server's certificate is verified by, and when keys are made of their files. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class TlsSourcesTest extends WireFixture {

    private static final String STORE_OF_THE_RUNTIME = "javax.net.ssl.trustStore";

    private final WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
    private final @Nullable String storeBefore = System.getProperty(STORE_OF_THE_RUNTIME);
    private final CountedLookups keys = new CountedLookups("KeyFactory");

    @TempDir
    private Path folder;

    /** Offers nothing, and counts how often a service of one type was asked for. */
    private static final class CountedLookups extends Provider {

        private static final long serialVersionUID = 1;

        private final String type;
        private final AtomicInteger lookups = new AtomicInteger();

        CountedLookups(String type) {
            super("counted-lookups", "1", "counts lookups");
            this.type = type;
        }

        @Override
        public @Nullable Service getService(String asked, String algorithm) {
            if (asked.equals(type)) {
                lookups.incrementAndGet();
            }
            return null;
        }
    }

    @AfterEach
    void restoreTheRuntime() {
        Security.removeProvider(keys.getName());
        if (storeBefore == null) {
            System.clearProperty(STORE_OF_THE_RUNTIME);
        } else {
            System.setProperty(STORE_OF_THE_RUNTIME, storeBefore);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void twoAuthorities_serverOfEither_isTrusted(boolean first) throws Exception {
        String another = TestCertificates.another().authorityPem();
        connect(trusting(first ? WireCertificates.authorityPem() + another : another + WireCertificates.authorityPem())
                .build());

        answerOf(make(RequestKind.GET, "a"));
    }

    @Test
    void authorityOfTheRuntime_isTrustedOnlyIfNoOtherIsNamed() throws Exception {
        System.setProperty(STORE_OF_THE_RUNTIME, storeWith(WireCertificates.authorityPem()));
        connect(config(server.url()).withCaCertData(null).build());
        answerOf(make(RequestKind.GET, "without"));

        connect(trusting(TestCertificates.another().authorityPem()).build());

        assertThat(failureOf(make(RequestKind.GET, "with")).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(server.arrived).hasSize(1);
    }

    @Test
    void fileWithoutAnAuthority_isRefusedAndTheServerNotAsked(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("credentials");
        connect(trusting("no certificate").build());

        assertThat(failureOf(make(RequestKind.GET, "a")).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(server.arrived).isEmpty();
    }

    /** Making a key takes a tenth of a second of processor time. */
    @Test
    void filesReadAgain_keysAreMadeOnlyOfThoseThatHaveChanged() throws Exception {
        Path certificate = Files.writeString(folder.resolve("user.crt"), WireCertificates.clientPem("one"));
        Path key = Files.writeString(folder.resolve("user.key"), WireCertificates.keyPem());
        connect(config(server.url())
                .withClientCertFile(certificate.toString())
                .withClientKeyFile(key.toString())
                .build());
        answerOf(make(RequestKind.GET, "before"));
        Security.insertProviderAt(keys, 1);

        answerOf(api.rereadCredentials());
        assertThat(keys.lookups).hasValue(0);

        Files.writeString(certificate, WireCertificates.clientPem("two"));
        answerOf(api.rereadCredentials());
        answerOf(make(RequestKind.GET, "after"));
        assertThat(keys.lookups).hasPositiveValue();
        assertThat(server.arrived("after")).allMatch(request -> request.user().equals("two"));
    }

    private ConfigBuilder trusting(String authorities) throws Exception {
        Path file = Files.writeString(folder.resolve("ca.crt"), authorities);
        return config(server.url()).withCaCertData(null).withCaCertFile(file.toString());
    }

    private String storeWith(String authority) throws Exception {
        // unlike PKCS12, read without a password
        KeyStore store = KeyStore.getInstance("JKS");
        store.load(null, null);
        store.setCertificateEntry(
                "authority",
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(new ByteArrayInputStream(authority.getBytes(US_ASCII))));
        Path file = folder.resolve("store.jks");
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, "changeit".toCharArray());
        }
        return file.toString();
    }
}
