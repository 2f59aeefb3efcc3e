package dev.podcache.cli.config;

import com.google.common.base.Strings;
import dev.podcache.apiserver.http.CombinedPem;
import dev.podcache.kubelet.certificate.PrivateFile;
import io.fabric8.kubernetes.api.model.ConfigBuilder;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the client certificate of a kubeconfig, and writes a kubeconfig that names one. */
final class KubeconfigCertificate {

    private KubeconfigCertificate() {}

    /**
     * Returns why a kubeconfig has no valid client certificate; empty if it has one, or credentials of another kind.
     *
     * @throws dev.podcache.cli.output.CommandException if the file exists and is no kubeconfig
     */
    static String whyUnusable(Path kubeconfig, Instant now) {
        if (!Files.exists(kubeconfig)) {
            return "kubeconfig " + kubeconfig + " does not exist";
        }
        Config config = ClusterAccess.read(kubeconfig, "--kubeconfig");
        try {
            Optional<String> pem = pem(config);
            if (pem.isEmpty()) {
                return ClusterAccess.isAnonymous(config) ? "kubeconfig " + kubeconfig + " has no credentials" : "";
            }
            Instant end = end(pem.get());
            return now.isBefore(end) ? "" : "the certificate of kubeconfig " + kubeconfig + " expired at " + end;
        } catch (IOException | CertificateException e) {
            return "the certificate of kubeconfig " + kubeconfig + " cannot be read";
        }
    }

    /** Returns when the first of the certificates expires. */
    private static Instant end(String pem) throws CertificateException {
        byte[] certificates = CombinedPem.certificates(pem).getBytes(StandardCharsets.US_ASCII);
        return CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(certificates))
                .stream()
                .map(KubeconfigCertificate::endOf)
                .min(Instant::compareTo)
                .orElseThrow(() -> new CertificateException("no certificate"));
    }

    private static Instant endOf(Certificate certificate) {
        return ((X509Certificate) certificate).getNotAfter().toInstant();
    }

    /** Returns the client certificate and its key; empty if the configuration has none. */
    static Optional<String> pem(Config config) throws IOException {
        String certificate = text(config.getClientCertData(), config.getClientCertFile());
        return certificate.isEmpty()
                ? Optional.empty()
                : Optional.of(CombinedPem.certificates(certificate)
                        + CombinedPem.privateKey(text(config.getClientKeyData(), config.getClientKeyFile())));
    }

    private static String text(@Nullable String data, @Nullable String file) throws IOException {
        if (!Strings.isNullOrEmpty(data)) {
            return new String(Base64.getMimeDecoder().decode(data), StandardCharsets.US_ASCII);
        }
        return Strings.isNullOrEmpty(file) ? "" : Files.readString(Path.of(file));
    }

    /**
     * Writes a kubeconfig with the cluster of another one, which only its owner can read.
     *
     * @param pem the file with the client certificate and its key
     */
    static void write(Path kubeconfig, Path bootstrap, Path pem) throws IOException {
        NamedCluster named = ClusterAccess.cluster(bootstrap, "--bootstrap-kubeconfig");
        String authority = named.getCluster().getCertificateAuthority();
        if (!Strings.isNullOrEmpty(authority)) {
            // a relative path is relative to its kubeconfig
            named.getCluster()
                    .setCertificateAuthority(
                            bootstrap.toAbsolutePath().resolveSibling(authority).toString());
        }
        io.fabric8.kubernetes.api.model.Config content = new ConfigBuilder()
                .withApiVersion("v1")
                .withKind("Config")
                .addNewCluster()
                .withName("default-cluster")
                .withCluster(named.getCluster())
                .endCluster()
                .addNewUser()
                .withName("default-auth")
                .withNewUser()
                .withClientCertificate(pem.toString())
                .withClientKey(pem.toString())
                .endUser()
                .endUser()
                .addNewContext()
                .withName("default-context")
                .withNewContext()
                .withCluster("default-cluster")
                .withUser("default-auth")
                .withNamespace("default")
                .endContext()
                .endContext()
                .withCurrentContext("default-context")
                .build();
        PrivateFile.replace(kubeconfig, Serialization.asYaml(content));
    }
}
