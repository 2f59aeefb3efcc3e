package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.TestCertificates;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys and CAs are made again only if their sources have changed, because that takes long. */
class IdentityReaderTest {

    private final Timekeeper timekeeper = Timekeeper.system();

    @TempDir
    Path folder;

    private TestCertificates certificates;
    private IdentityReader reader;

    @BeforeEach
    void createFiles() throws Exception {
        certificates = new TestCertificates();
        write("ca.crt", certificates.authorityPem());
        write("user.crt", certificates.userPem("one"));
        write("user.key", certificates.privateKeyPem());
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("https://127.0.0.1:1/")
                .withCaCertFile(path("ca.crt"))
                .withClientCertFile(path("user.crt"))
                .withClientKeyFile(path("user.key"))
                .build();
        reader = new IdentityReader(config, config.getRequestConfig(), URI.create(config.getMasterUrl()), timekeeper);
    }

    @AfterEach
    void closeTimekeeper() {
        timekeeper.close();
    }

    @Test
    void again_ofUnchangedFiles_keepsKeysAndCas() {
        Identity first = reader.first();

        Identity again = reader.again();

        assertThat(again.settings()).isSameAs(first.settings());
        assertThat(again.number()).isGreaterThan(first.number());
        assertThat(again.isSame(first)).isTrue();
    }

    @Test
    void again_afterTheCertificateWasReplaced_hasTheNewKeys() throws Exception {
        Identity first = reader.first();
        write("user.crt", certificates.userPem("two"));

        Identity again = reader.again();

        assertThat(again.settings()).isNotSameAs(first.settings());
        assertThat(again.sharesConnectionsWith(first)).isFalse();
    }

    @Test
    void again_afterTheCaWasReplaced_hasTheNewCa() throws Exception {
        Identity first = reader.first();
        write("ca.crt", TestCertificates.another().authorityPem());

        Identity again = reader.again();

        assertThat(again.sharesConnectionsWith(first)).isTrue();
        assertThat(again.settings()).isNotSameAs(first.settings());
    }

    private void write(String name, String pem) throws Exception {
        Files.writeString(folder.resolve(name), pem);
    }

    private String path(String name) {
        return folder.resolve(name).toString();
    }
}
