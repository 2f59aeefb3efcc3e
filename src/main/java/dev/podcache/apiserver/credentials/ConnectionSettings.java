package dev.podcache.apiserver.credentials;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableSet;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.http.TlsVersion;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The settings of connections by a {@link Config}: TLS material, proxy and timeout. Immutable. {@code toString} shows none.
 *
 * @param verifiesHost whether the server's certificate must be for its host, unless {@code trusted} verifies that
 * @param connectTimeout of the TCP connect, and again of the TLS handshake
 * @param keys the client's certificate and key; null for none
 * @param trusted verifies the server's certificate; null for the authorities of the JVM
 * @param tlsVersions empty for those of the JVM
 * @param tlsServerName the name to verify, and to send as SNI if that is possible; null for the server's host
 * @param proxy in front of the server; null for none
 * @param proxyTrusted verifies the certificate of a proxy that is reached by TLS: by the authorities that verify the server,
 *     as for Go; null for the authorities of the JVM
 * @param verifiesProxy whether the proxy's certificate must be for its host
 * @param compression whether answers may be compressed
 */
public record ConnectionSettings(
        boolean verifiesHost,
        Duration connectTimeout,
        @Nullable X509KeyManager keys,
        @Nullable X509TrustManager trusted,
        Set<String> tlsVersions,
        @Nullable String tlsServerName,
        boolean http11Only,
        @Nullable ProxyAddress proxy,
        @Nullable X509TrustManager proxyTrusted,
        boolean verifiesProxy,
        boolean compression) {

    private static final int USUAL_TIMEOUT = 10_000;

    /**
     * Reads a configuration and the files that it names. Blocks. If it names an authority, only that authority is trusted,
     * as by kubectl.
     *
     * @param keys null for none, or those of a key store that the configuration names
     * @param compression whether answers may be compressed
     * @throws CredentialsException if something cannot be used
     */
    static ConnectionSettings of(Config config, @Nullable ClientKeys keys, ServerUrl server, boolean compression) {
        ProxyAddress proxy = ProxyRules.of(config, server);
        Integer timeout = config.getConnectionTimeout();
        boolean verifiesHost = !config.isTrustCerts() && !config.isDisableHostnameVerification();
        boolean verifiesProxy = verifiesHost;
        boolean usesTls = server.secure() || (proxy != null && proxy.secure());
        X509TrustManager trusted = usesTls ? trusted(config) : null;
        X509TrustManager proxyTrusted = trusted;
        String tlsServerName = Strings.emptyToNull(withoutLastDot(Strings.nullToEmpty(config.getTlsServerName())));
        String name = tlsServerName == null ? withoutLastDot(server.host()) : tlsServerName;
        if (verifiesHost && trusted != null && Authorities.needsNamed(name)) {
            trusted = Authorities.named(trusted, name);
            verifiesHost = false;
        }
        return new ConnectionSettings(
                verifiesHost,
                Duration.ofMillis(timeout == null || timeout <= 0 ? USUAL_TIMEOUT : timeout),
                keys == null ? ofStore(config) : keys,
                trusted,
                tlsVersions(config.getTlsVersions()),
                tlsServerName,
                config.isHttp2Disable(),
                proxy,
                proxyTrusted,
                verifiesProxy,
                compression);
    }

    /** Returns a host name without the dot that may end it, as Go takes it. */
    static String withoutLastDot(String name) {
        return name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
    }

    private static Set<String> tlsVersions(TlsVersion @Nullable [] versions) {
        Set<String> names = new LinkedHashSet<>();
        if (versions != null) {
            for (TlsVersion version : versions) {
                names.add(version.javaName());
            }
        }
        return ImmutableSet.copyOf(names);
    }

    private static @Nullable X509TrustManager trusted(Config config) {
        Optional<X509TrustManager> named = Authorities.of(config);
        if (named.isPresent()) {
            return named.get();
        }
        // only its trust store counts here
        Config store = new ConfigBuilder(config)
                .withAutoConfigure(false)
                .withCaCertData(null)
                .withCaCertFile(null)
                .build();
        try {
            TrustManager[] managers = SSLUtils.trustManagers(store);
            return managers != null && managers.length > 0 && managers[0] instanceof X509TrustManager trust
                    ? trust
                    : null;
        } catch (GeneralSecurityException | IOException | RuntimeException e) {
            throw new CredentialsException(
                    "the trust store of the client's configuration cannot be read: check its file and its passphrase");
        }
    }

    private static @Nullable X509KeyManager ofStore(Config config) {
        String file = config.getKeyStoreFile();
        if (Strings.isNullOrEmpty(file)) {
            return null;
        }
        char[] passphrase = Strings.nullToEmpty(config.getKeyStorePassphrase()).toCharArray();
        try (InputStream content = Files.newInputStream(Path.of(file))) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(content, passphrase);
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, passphrase);
            for (KeyManager manager : factory.getKeyManagers()) {
                if (manager instanceof X509KeyManager keys) {
                    return keys;
                }
            }
        } catch (IOException | GeneralSecurityException | InvalidPathException e) {
            throw new CredentialsException("the key store " + file
                    + " of the client's configuration cannot be read: check the file and its passphrase");
        }
        return null;
    }

    @Override
    public String toString() {
        return "ConnectionSettings[proxy=" + proxy + "]";
    }
}
