package dev.podcache.apiserver.http;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.internal.CertUtils;
import io.fabric8.kubernetes.client.utils.Utils;
import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import java.util.Optional;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** Verifies certificates by the certificates of chosen authorities, and by no others. */
public final class Authorities {

    private Authorities() {}

    /**
     * Returns what verifies by the authorities in {@code pem}.
     *
     * @throws GeneralSecurityException if there is none, or one cannot be read
     */
    public static X509TrustManager trusted(InputStream pem) throws GeneralSecurityException, IOException {
        Collection<? extends Certificate> certificates =
                CertificateFactory.getInstance("X.509").generateCertificates(pem);
        if (certificates.isEmpty()) {
            throw new CertificateException("there is no certificate in PEM format");
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        int number = 0;
        for (Certificate certificate : certificates) {
            store.setCertificateEntry("authority-" + number++, certificate);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        for (TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509TrustManager trust) {
                return trust;
            }
        }
        throw new CertificateException("this Java runtime cannot verify X.509 certificates");
    }

    /**
     * Returns what verifies a server by the authority of {@code config}; empty if it names none, or names a trust store,
     * or trusts every server. Blocks while a file is read.
     *
     * @throws KubernetesClientException if the authority cannot be read
     */
    static Optional<X509TrustManager> of(Config config) {
        boolean named =
                Utils.isNotNullOrEmpty(config.getCaCertData()) || Utils.isNotNullOrEmpty(config.getCaCertFile());
        if (!named || config.isTrustCerts() || Utils.isNotNullOrEmpty(config.getTrustStoreFile())) {
            return Optional.empty();
        }
        try (InputStream pem = CertUtils.getInputStreamFromDataOrFile(config.getCaCertData(), config.getCaCertFile())) {
            return Optional.of(trusted(pem));
        } catch (GeneralSecurityException | IOException e) {
            throw KubernetesClientException.launderThrowable(e);
        }
    }
}
