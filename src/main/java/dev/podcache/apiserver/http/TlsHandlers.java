package dev.podcache.apiserver.http;

import com.google.common.net.InetAddresses;
import dev.podcache.apiserver.credentials.ConnectionSettings;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.apiserver.http.ServerEndpoint.Target;
import io.netty.handler.ssl.SslHandler;
import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** Makes the TLS handlers of the connections of one event loop, to which it is confined. */
final class TlsHandlers {

    /** The protocol name of HTTP/2 in ALPN. */
    static final String HTTP_2 = "h2";

    private static final String HTTP_11 = "http/1.1";

    private @Nullable Material last; // what context was made from
    private @Nullable SSLContext context;

    /**
     * What a context is made from. A context resumes the sessions of earlier connections, in which nothing is verified
     * again. So connections share it only while they have the same certificate and trust the same authorities.
     */
    private record Material(
            @Nullable X509KeyManager keys, @Nullable X509TrustManager trusted) {}

    /**
     * Returns a handler of a connection to the server, which offers HTTP/2 if {@code target} does.
     *
     * @throws IllegalArgumentException if the JVM does not have the versions of TLS or the algorithms that are configured
     */
    SslHandler toServer(Target target) {
        ConnectionSettings settings = target.settings();
        String tlsName = settings.tlsServerName();
        String name = tlsName == null ? target.host() : tlsName;
        SSLEngine engine = engine(target, new Material(settings.keys(), settings.trusted()), name, target.port());
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm(identification(settings.verifiesHost()));
        if (tlsName != null) {
            // the JVM sends no name without a dot by itself
            parameters.setServerNames(serverNames(tlsName));
        }
        if (target.multiplexed()) {
            parameters.setApplicationProtocols(new String[] {HTTP_2, HTTP_11});
        }
        engine.setSSLParameters(parameters);
        return handler(target, engine);
    }

    /**
     * Returns a handler of a connection to a proxy. As for Go, the proxy is verified by the authorities of the server and
     * gets the certificate of the client if it asks for one. Its name must be its own.
     *
     * @throws IllegalArgumentException as {@link #toServer} does
     */
    SslHandler toProxy(Target target, ProxyAddress proxy) {
        ConnectionSettings settings = target.settings();
        Material material = new Material(settings.keys(), settings.proxyTrusted());
        SSLEngine engine = engine(target, material, proxy.host(), proxy.port());
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm(identification(settings.verifiesProxy()));
        engine.setSSLParameters(parameters);
        return handler(target, engine);
    }

    /** Returns what to send as SNI: as Go no address, and nothing that the JVM takes for no host name. */
    private static List<SNIServerName> serverNames(String name) {
        if (InetAddresses.isInetAddress(name)) {
            return List.of();
        }
        try {
            return List.of(new SNIHostName(name));
        } catch (IllegalArgumentException noHostName) {
            return List.of();
        }
    }

    private static String identification(boolean verifies) {
        return verifies ? "HTTPS" : "";
    }

    private SSLEngine engine(Target target, Material material, String host, int port) {
        SSLContext made = context(material);
        SSLEngine engine = made.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        if (!target.settings().tlsVersions().isEmpty()) {
            engine.setEnabledProtocols(target.settings().tlsVersions().toArray(new String[0]));
        }
        return engine;
    }

    private static SslHandler handler(Target target, SSLEngine engine) {
        SslHandler handler = new SslHandler(engine);
        handler.setHandshakeTimeoutMillis(target.timeout().toMillis());
        // after its timeout Netty would log a warning; the wire closes the connection before
        handler.setCloseNotifyFlushTimeoutMillis(0);
        return handler;
    }

    private SSLContext context(Material material) {
        SSLContext known = context;
        if (known != null && material.equals(last)) {
            return known;
        }
        try {
            SSLContext made = SSLContext.getInstance("TLS");
            made.init(
                    material.keys() == null ? null : new KeyManager[] {material.keys()},
                    material.trusted() == null ? null : new TrustManager[] {material.trusted()},
                    null);
            last = material;
            context = made;
            return made;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "this Java runtime cannot use the client's certificate or authorities", e);
        }
    }
}
