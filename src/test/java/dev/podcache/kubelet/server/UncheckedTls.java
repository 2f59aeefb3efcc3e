package dev.podcache.kubelet.server;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** TLS of clients that trust any server, as an API server without {@code --kubelet-certificate-authority} does. */
final class UncheckedTls extends X509ExtendedTrustManager {

    private UncheckedTls() {}

    /** Returns a context with these keys of the client. */
    static SSLContext with(KeyManager... keys) throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, new TrustManager[] {new UncheckedTls()}, null);
        return context;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String algorithm) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String algorithm, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String algorithm, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String algorithm) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String algorithm, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String algorithm, SSLEngine engine) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
