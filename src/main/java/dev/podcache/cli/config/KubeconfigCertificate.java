package dev.podcache.cli.config;

import com.google.common.base.Strings;
import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.cli.output.CommandException;
import dev.podcache.kubelet.certificate.PrivateFile;
import dev.podcache.object.Quoted;
import dev.podcache.yaml.YamlException;
import dev.podcache.yaml.YamlNode;
import dev.podcache.yaml.YamlNode.Mapping;
import dev.podcache.yaml.YamlNode.Sequence;
import dev.podcache.yaml.YamlReader;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the client certificate of a kubeconfig, and writes a kubeconfig that names one. */
final class KubeconfigCertificate {

    private KubeconfigCertificate() {}

    /**
     * Returns why a kubeconfig has no valid client certificate; empty if it has one, or credentials of another kind.
     *
     * @throws CommandException if the file exists and is no kubeconfig, or names a file that exists and cannot be read
     */
    static String whyUnusable(Path kubeconfig, Instant now) {
        if (!Files.exists(kubeconfig)) {
            return "kubeconfig " + kubeconfig + " does not exist";
        }
        Config config = ClusterAccess.read(kubeconfig, "--kubeconfig").config(Map.of());
        try {
            Optional<String> pem = pem(config);
            if (pem.isEmpty()) {
                return ClusterAccess.isAnonymous(config) ? "kubeconfig " + kubeconfig + " has no credentials" : "";
            }
            Instant end = end(pem.get());
            return now.isBefore(end) ? "" : "the certificate of kubeconfig " + kubeconfig + " expired at " + end;
        } catch (NoSuchFileException | CertificateException e) {
            return "the certificate of kubeconfig " + kubeconfig + " cannot be read";
        } catch (IOException e) {
            throw new CommandException(
                    "the certificate of kubeconfig " + kubeconfig + " cannot be read: " + Quoted.text(e.toString()), e);
        }
    }

    /**
     * Checks that nothing is lost when a kubeconfig is written in the place of this one.
     *
     * @throws CommandException if it has other credentials than those of one node
     */
    static void requireReplaceable(Path kubeconfig) {
        if (!Files.exists(kubeconfig)) {
            return;
        }
        try {
            byte[] content = Files.readAllBytes(kubeconfig);
            YamlReader.Limits limits = new YamlReader.Limits(ConfigurationFile.LARGEST, 100_000);
            for (YamlNode document : YamlReader.read(content, limits)) {
                for (String list : List.of("contexts", "users", "clusters")) {
                    if (document instanceof Mapping fields
                            && fields.fields().get(list) instanceof Sequence several
                            && several.elements().size() > 1) {
                        throw new CommandException(
                                "--kubeconfig " + kubeconfig + " has "
                                        + several.elements().size() + " " + list
                                        + ", which would be lost: name a file of this node's own",
                                null);
                    }
                }
            }
        } catch (IOException | YamlException e) {
            throw new CommandException("kubeconfig " + kubeconfig + " cannot be read: " + Quoted.text(e.toString()), e);
        }
    }

    /** Returns when the first of the certificates expires. */
    private static Instant end(String pem) throws CertificateException {
        byte[] certificates = PemText.certificates(pem).getBytes(StandardCharsets.US_ASCII);
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
                : Optional.of(PemText.certificates(certificate)
                        + PemText.privateKey(text(config.getClientKeyData(), config.getClientKeyFile())));
    }

    private static String text(@Nullable String data, @Nullable String file) throws IOException {
        if (!Strings.isNullOrEmpty(data)) {
            return new String(Base64.getMimeDecoder().decode(data), StandardCharsets.US_ASCII);
        }
        return Strings.isNullOrEmpty(file) ? "" : Files.readString(Path.of(file), StandardCharsets.ISO_8859_1);
    }

    /**
     * Writes a kubeconfig with the cluster of another one, which only its owner can read.
     *
     * @param pem the file with the client certificate and its key
     */
    static void write(Path kubeconfig, Path bootstrap, Path pem) throws IOException {
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("apiVersion", "v1");
        content.put("kind", "Config");
        content.put(
                "clusters",
                List.of(Map.of(
                        "name",
                        "default-cluster",
                        "cluster",
                        ClusterAccess.read(bootstrap, "--bootstrap-kubeconfig").clusterFields())));
        content.put(
                "users",
                List.of(Map.of(
                        "name",
                        "default-auth",
                        "user",
                        Map.of("client-certificate", pem.toString(), "client-key", pem.toString()))));
        content.put(
                "contexts",
                List.of(Map.of(
                        "name",
                        "default-context",
                        "context",
                        Map.of("cluster", "default-cluster", "user", "default-auth", "namespace", "default"))));
        content.put("current-context", "default-context");
        PrivateFile.replace(kubeconfig, Serialization.asYaml(content));
    }
}
