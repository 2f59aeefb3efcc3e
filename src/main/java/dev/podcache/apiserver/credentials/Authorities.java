package dev.podcache.apiserver.credentials;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.client.Config;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Verifies certificates by the certificates of chosen authorities, and by no others. */
public final class Authorities {

    private static final Logger log = LoggerFactory.getLogger(Authorities.class);
    private static final AtomicReference<String> SAID = new AtomicReference<>("");

    private Authorities() {}

    /**
     * Returns what verifies by the authorities in {@code pem}. Those that this Java runtime cannot read are passed over, as Go
     * does with what it cannot read.
     *
     * @throws GeneralSecurityException if there is none that can be read
     */
    public static X509TrustManager trusted(InputStream pem) throws GeneralSecurityException, IOException {
        List<Certificate> certificates = certificates(Kubeconfig.text(pem.readAllBytes()));
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

    private static List<Certificate> certificates(String pem) throws CertificateException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        List<Certificate> certificates = new ArrayList<>();
        int unread = 0;
        for (PemText.Block block : PemText.blocks(pem)) {
            if (block.type().equals("CERTIFICATE")) {
                try {
                    byte[] content = PemText.bytes(block.pem());
                    certificates.add(factory.generateCertificate(new ByteArrayInputStream(content)));
                } catch (CertificateException e) {
                    unread++;
                }
            }
        }
        if (certificates.isEmpty()) {
            throw new CertificateException("there is no certificate in PEM format that can be read");
        }
        String passedOver = unread + " of " + (unread + certificates.size()) + " certificates of authorities";
        // the files are read again and again
        if (unread > 0 && !passedOver.equals(SAID.getAndSet(passedOver))) {
            log.info("{} cannot be read, so nobody is trusted by them", passedOver);
        }
        return certificates;
    }

    /**
     * Returns what verifies a server by the authority of {@code config}; empty if it names none, or names a trust store,
     * or trusts every server. Blocks while a file is read.
     *
     * @throws CredentialsException if the authority cannot be read
     */
    static Optional<X509TrustManager> of(Config config) {
        String data = Strings.nullToEmpty(config.getCaCertData());
        String file = Strings.nullToEmpty(config.getCaCertFile());
        boolean named = !data.isEmpty() || !file.isEmpty();
        if (!named || config.isTrustCerts() || !Strings.isNullOrEmpty(config.getTrustStoreFile())) {
            return Optional.empty();
        }
        String what = data.isEmpty() ? "certificate-authority: file " + file : "certificate-authority-data";
        byte[] pem;
        try {
            pem = data.isEmpty() ? Files.readAllBytes(Path.of(file)) : decoded(data);
        } catch (IOException | InvalidPathException e) {
            throw new CredentialsException(what + " cannot be read: correct its path or its permissions");
        }
        try {
            return Optional.of(trusted(new ByteArrayInputStream(pem)));
        } catch (GeneralSecurityException | IOException e) {
            throw new CredentialsException(
                    what + " has no certificate that can be used: it must have certificates in PEM format");
        }
    }

    /** Returns what a configuration calls data: base64, or the text itself. */
    static byte[] decoded(String data) {
        if (data.contains("-----BEGIN ")) {
            return PemText.bytes(data);
        }
        try {
            return Base64.getMimeDecoder().decode(data);
        } catch (IllegalArgumentException noBase64) {
            return new byte[0];
        }
    }

    /** Returns whether the JDK cannot verify that a server has a name. */
    static boolean needsNamed(String name) {
        return name.contains("_");
    }

    /** Returns what verifies by {@code authorities} that a server has a name, also one with an {@code _}. */
    static X509TrustManager named(X509TrustManager authorities, String name) {
        return new NamedServerTrust(authorities, name);
    }

    /**
     * Verifies the certificate of a server whose name has an {@code _}, for its name too. The JDK takes such a name for no host
     * name and refuses every certificate; Go and DNS know it. Immutable.
     */
    private static final class NamedServerTrust implements X509TrustManager {

        private static final Integer DNS_NAME = 2;

        private final X509TrustManager authorities;
        private final String name;

        private NamedServerTrust(X509TrustManager authorities, String name) {
            this.authorities = authorities;
            this.name = name.toLowerCase(Locale.ROOT);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            authorities.checkServerTrusted(chain, authType);
            Collection<List<?>> names = chain[0].getSubjectAlternativeNames();
            boolean named = names != null
                    && names.stream()
                            .filter(each -> DNS_NAME.equals(each.get(0)))
                            .anyMatch(
                                    each -> matches(String.valueOf(each.get(1)).toLowerCase(Locale.ROOT)));
            if (!named) {
                throw new CertificateException("No subject alternative DNS name matching " + name + " found");
            }
        }

        /** A wildcard stands for the first label, as for Go. */
        private boolean matches(String pattern) {
            int dot = name.indexOf('.');
            return pattern.equals(name) || (dot > 0 && pattern.equals("*" + name.substring(dot)));
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            authorities.checkClientTrusted(chain, authType);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return authorities.getAcceptedIssuers();
        }
    }
}
