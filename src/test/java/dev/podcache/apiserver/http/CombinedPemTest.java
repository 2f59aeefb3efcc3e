package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import org.bouncycastle.asn1.sec.ECPrivateKey;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CombinedPemTest {

    @TempDir
    private Path folder;

    private final TestCertificates authority;

    CombinedPemTest() throws Exception {
        authority = new TestCertificates();
    }

    private Config named(String content) throws Exception {
        String file = Files.writeString(folder.resolve("kubelet-client-current.pem"), content)
                .toString();
        return new ConfigBuilder(Config.empty())
                .withMasterUrl("https://127.0.0.1:1")
                .withClientCertFile(file)
                .withClientKeyFile(file)
                .build();
    }

    private static X509KeyManager keys(Config config) throws Exception {
        KeyManager[] managers = SSLUtils.keyManagers(CombinedPem.separated(config));
        return (X509KeyManager) managers[0];
    }

    private static PrivateKey key(X509KeyManager keys, String type) {
        return keys.getPrivateKey(keys.getClientAliases(type, null)[0]);
    }

    private static KeyPair ecPair() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return generator.generateKeyPair();
    }

    private static String pem(String type, byte[] der) {
        return "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + type
                + "-----\n";
    }

    @Test
    void separated_certificateAndRsaKeyInOneFile_isReadByFabric8() throws Exception {
        X509KeyManager keys = keys(named(authority.userPem("jane") + authority.privateKeyPem()));

        assertThat(key(keys, "RSA").getAlgorithm()).isEqualTo("RSA");
    }

    @Test
    void separated_keyBeforeTheCertificate_isReadByFabric8() throws Exception {
        X509KeyManager keys = keys(named(authority.privateKeyPem() + authority.userPem("jane")));

        assertThat(key(keys, "RSA").getAlgorithm()).isEqualTo("RSA");
    }

    @Test
    void separated_ecKeyInBothForms_isReadByFabric8() throws Exception {
        KeyPair pair = ecPair();
        // as Go writes it
        byte[] sec1 = new ECPrivateKey(
                        256,
                        ((java.security.interfaces.ECPrivateKey) pair.getPrivate()).getS(),
                        SubjectPublicKeyInfo.getInstance(pair.getPublic().getEncoded())
                                .getPublicKeyData(),
                        SECObjectIdentifiers.secp256r1)
                .getEncoded();
        String certificate = authority.userPem("jane");

        Config pkcs8 = CombinedPem.separated(
                named(certificate + pem("PRIVATE KEY", pair.getPrivate().getEncoded())));
        assertThat(pkcs8.getClientKeyAlgo()).isEqualTo("EC");
        assertThat(SSLUtils.keyManagers(pkcs8)).isNotEmpty();

        Config kubelets = CombinedPem.separated(named(certificate + pem("EC PRIVATE KEY", sec1)));
        assertThat(kubelets.getClientKeyAlgo()).isEqualTo("EC");
        assertThat(SSLUtils.keyManagers(kubelets)).isNotEmpty();
    }

    @Test
    void separated_twoFiles_isUnchanged() throws Exception {
        Config config = named(authority.userPem("jane"));
        config.setClientKeyFile(folder.resolve("other").toString());

        assertThat(CombinedPem.separated(config)).isSameAs(config);
    }

    @Test
    void separated_missingFile_isUnchangedSoThatFabric8NamesIt() throws Exception {
        Config config = named("");
        Files.delete(Path.of(config.getClientCertFile()));

        assertThat(CombinedPem.separated(config)).isSameAs(config);
    }

    @Test
    void certificates_ofAChain_keepTheirOrder() throws Exception {
        String own = authority.userPem("jane");
        String issuer = authority.authorityPem();

        assertThat(CombinedPem.certificates("# comment\n" + own + authority.privateKeyPem() + issuer))
                .isEqualTo(own + issuer);
    }
}
