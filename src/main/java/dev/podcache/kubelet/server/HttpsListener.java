package dev.podcache.kubelet.server;

import dev.podcache.apiserver.credentials.PemText;
import dev.podcache.apiserver.credentials.PrivateKeys;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Objects;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** Has an {@link HttpListener} listen by TLS 1.2 or newer, with a certificate that may be replaced. Thread-safe. */
final class HttpsListener implements AutoCloseable {

    private static final String[] PROTOCOLS = {"TLSv1.2", "TLSv1.3"};

    /** A command is in the URL. */
    private static final int LONGEST_URL = 256 << 10;

    private static final char[] NO_PASSWORD = new char[0];

    private final X509TrustManager clients;
    private final HttpListener listener;

    /** Of the latest certificate. A new one has a new context, so that no session with the old one is resumed. */
    private volatile @Nullable SSLContext context;

    /**
     * Creates a listener that does not listen yet.
     *
     * @param clients accepts the certificates of clients
     * @param listener closed with this object
     */
    HttpsListener(X509TrustManager clients, HttpListener listener) {
        this.clients = clients;
        this.listener = listener;
    }

    /**
     * Starts to listen; waits at most 10 s. Call it once, after {@link #use}.
     *
     * @param port 0 for any free port
     * @throws IOException if the address cannot be used
     */
    void listen(String host, int port) throws IOException {
        listener.listen(new HttpListener.ListenerProtocol(LONGEST_URL, Optional.of(this::engine)), host, port);
    }

    private SSLEngine engine() {
        SSLEngine engine = Objects.requireNonNull(context, "context").createSSLEngine();
        engine.setUseClientMode(false);
        engine.setWantClientAuth(true);
        engine.setEnabledProtocols(PROTOCOLS);
        return engine;
    }

    /** Returns the port that is listened on; 0 if there is none. */
    int port() {
        return listener.port();
    }

    /**
     * Uses a certificate for new connections.
     *
     * @throws GeneralSecurityException if it cannot be used; the certificate before stays in use
     */
    void use(ServingCertificate certificate) throws GeneralSecurityException {
        X509Certificate[] chain = chain(text(certificate.certificates()));
        PrivateKey key = PrivateKeys.read(text(certificate.key()));
        PrivateKeys.requirePair(chain[0].getPublicKey(), key);
        try {
            // by default a key store encrypts its keys, which takes up to a second of CPU time
            KeyStore store = KeyStore.getInstance("JKS");
            store.load(null, null);
            store.setKeyEntry("server", key, NO_PASSWORD, chain);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, NO_PASSWORD);
            SSLContext made = SSLContext.getInstance("TLS");
            made.init(keys.getKeyManagers(), new TrustManager[] {clients}, null);
            context = made;
        } catch (IOException e) {
            throw new GeneralSecurityException(e);
        }
    }

    private static X509Certificate[] chain(String pem) throws CertificateException {
        byte[] certificates = PemText.certificates(pem).getBytes(StandardCharsets.ISO_8859_1);
        X509Certificate[] chain = CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(certificates))
                .toArray(new X509Certificate[0]);
        if (chain.length == 0) {
            throw new CertificateException("there is no certificate in PEM format");
        }
        return chain;
    }

    private static String text(byte[] pem) {
        return new String(pem, StandardCharsets.ISO_8859_1);
    }

    /** Closes all connections and ends the thread; waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        listener.close();
    }
}
