package dev.podcache.kubelet.server;

import dev.podcache.apiserver.credentials.PrivateKeys;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.SSLOptions;
import io.vertx.core.net.TrustOptions;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStoreException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** Has an {@link HttpListener} listen by TLS 1.2 or newer, with a certificate that may be replaced. Thread-safe. */
final class HttpsListener implements AutoCloseable {

    private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");

    /** A command is in the URL. */
    private static final int LONGEST_URL = 256 << 10;

    private static final int LONGEST_MESSAGE = 1 << 20;

    /** Those of all endpoints; {@link Handshake} says which one a request gets. */
    private static final List<String> SUBPROTOCOLS = Stream.of(
                    ExecEndpoint.SUBPROTOCOLS, PortForwardEndpoint.SUBPROTOCOLS)
            .flatMap(List::stream)
            .distinct()
            .toList();

    private final X509TrustManager clients;
    private final HttpListener listener;

    private @Nullable PemKeyCertOptions keys; // guarded by this; of the latest certificate

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

    private HttpServerOptions options(PemKeyCertOptions certificate) {
        HttpServerOptions options = new HttpServerOptions();
        options.setSsl(true)
                .setUseAlpn(false)
                .setClientAuth(ClientAuth.REQUEST)
                .setKeyCertOptions(certificate)
                .setTrustOptions(TrustOptions.wrap(clients))
                .setEnabledSecureTransportProtocols(PROTOCOLS);
        return options.setMaxInitialLineLength(LONGEST_URL)
                .setMaxWebSocketFrameSize(LONGEST_MESSAGE)
                .setMaxWebSocketMessageSize(LONGEST_MESSAGE)
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setWebSocketSubProtocols(SUBPROTOCOLS);
    }

    /**
     * Starts to listen; waits at most 10 s. Call it once, after {@link #use}.
     *
     * @param port 0 for any free port
     * @throws IOException if the address cannot be used
     */
    void listen(String host, int port) throws IOException {
        PemKeyCertOptions certificate;
        synchronized (this) {
            certificate = Objects.requireNonNull(keys, "keys");
        }
        listener.listen(options(certificate), host, port);
    }

    /** Returns the port that is listened on; 0 if there is none. */
    int port() {
        return listener.port();
    }

    /**
     * Uses a certificate for new connections. Blocks at most 10 s, so it must not be called by the event loop, and not
     * during {@link #listen}.
     *
     * @throws GeneralSecurityException if it cannot be used; the certificate before stays in use
     */
    void use(ServingCertificate certificate) throws GeneralSecurityException {
        PemKeyCertOptions valid = keys(certificate);
        synchronized (this) {
            keys = valid;
        }
        SSLOptions options = new SSLOptions()
                .setKeyCertOptions(valid)
                .setTrustOptions(TrustOptions.wrap(clients))
                .setEnabledSecureTransportProtocols(PROTOCOLS);
        @Nullable Throwable failure = listener.update(options);
        if (failure != null) {
            throw new GeneralSecurityException(failure);
        }
    }

    private PemKeyCertOptions keys(ServingCertificate certificate) throws GeneralSecurityException {
        PemKeyCertOptions options = new PemKeyCertOptions()
                .addCertValue(Buffer.buffer(certificate.certificates()))
                .addKeyValue(Buffer.buffer(certificate.key()));
        try {
            for (KeyManager manager :
                    options.getKeyManagerFactory(listener.vertx()).getKeyManagers()) {
                if (manager instanceof X509KeyManager pairs) {
                    requirePair(pairs);
                }
            }
            return options;
        } catch (GeneralSecurityException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new KeyStoreException(e);
        }
    }

    private static void requirePair(X509KeyManager keys) throws GeneralSecurityException {
        for (String type : List.of("RSA", "EC", "EdDSA")) {
            @Nullable String @Nullable [] aliases = keys.getServerAliases(type, null);
            if (aliases != null && aliases.length > 0) {
                PrivateKeys.requirePair(
                        keys.getCertificateChain(aliases[0])[0].getPublicKey(), keys.getPrivateKey(aliases[0]));
            }
        }
    }

    /** Closes all connections and ends the thread; waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        listener.close();
    }
}
