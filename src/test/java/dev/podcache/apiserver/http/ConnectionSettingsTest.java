package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The authorities that a configuration names are the only ones that a server's certificate is verified by. */
class ConnectionSettingsTest {

    @TempDir
    Path folder;

    @Test
    void of_twoAuthorities_onlyTheyAreTrusted() throws Exception {
        Config config = withAuthority(new TestCertificates().authorityPem()
                + TestCertificates.another().authorityPem());

        ConnectionSettings settings = ConnectionSettings.of(config, config);

        // those of the Java runtime would be many more
        assertThat(settings.trusted())
                .satisfies(trusted -> assertThat(trusted.getAcceptedIssuers()).hasSize(2));
        assertThat(settings.verifiesHost()).isTrue();
    }

    @Test
    void of_fileWithoutAnAuthority_isRefused() throws Exception {
        Config config = withAuthority("no certificate");

        assertThatThrownBy(() -> ConnectionSettings.of(config, config))
                .isInstanceOf(KubernetesClientException.class)
                .hasRootCauseInstanceOf(CertificateException.class);
    }

    private Config withAuthority(String pem) throws Exception {
        return new ConfigBuilder(Config.empty())
                .withMasterUrl("https://127.0.0.1:1/")
                .withCaCertFile(Files.writeString(folder.resolve("ca.crt"), pem).toString())
                .build();
    }
}
