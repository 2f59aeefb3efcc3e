package dev.podcache.apiserver.credentials;

import com.google.common.base.Strings;
import com.google.common.hash.HashCode;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import dev.podcache.apiserver.credentials.Credentials.ProviderRequests;
import dev.podcache.apiserver.credentials.Kubeconfig.KubeconfigSource;
import dev.podcache.apiserver.credentials.KubeconfigEntries.AuthProviderEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ClusterEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.UserEntry;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.utils.Utils;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the credentials from fabric8's {@link Config} and its sources: certificate and token files, the kubeconfig, its
 * credential plugin, an identity provider. Every method may block for long. Not thread-safe.
 *
 * <p>A configuration of {@link Kubeconfig#config} is followed in all of it. Of one that a caller made, the certificate is
 * read again from the kubeconfig or its plugin only if the client has its certificate from there, because a caller may have
 * given the client another identity. fabric8 is never asked to read a kubeconfig again, because it would run the plugin and
 * log what it prints.
 */
final class IdentityReader {

    private static final Logger log = LoggerFactory.getLogger(IdentityReader.class);

    private final Config config;
    private final RequestConfig requestConfig;
    private final ServerUrl server;
    private final Timekeeper timekeeper;
    private final @Nullable KubeconfigSource source; // null if a caller made the configuration
    private final @Nullable Kubeconfig callers; // the kubeconfig that a caller read; null if there is none
    private @Nullable String unusable; // why the kubeconfig that a caller read is not followed
    private final boolean ownIdentity;
    private final boolean followsCertificate;
    private final OidcTokens oidc;
    private long reads;
    private Optional<HashCode> hash = Optional.empty(); // of the sources of the settings
    private @Nullable ConnectionSettings settings; // of the last read
    private @Nullable ClientKeys keys; // of the last read

    IdentityReader(
            Config config,
            RequestConfig requestConfig,
            ServerUrl server,
            Timekeeper timekeeper,
            ProviderRequests provider) {
        this.config = config;
        this.requestConfig = requestConfig;
        this.server = server;
        this.timekeeper = timekeeper;
        this.source = KubeconfigSource.of(config);
        this.callers = source == null ? kubeconfigOf(config) : null;
        this.ownIdentity = source == null && hasOwnIdentity(config);
        this.followsCertificate = source == null
                ? callers != null && callers.user().exec() == null && isFrom(callers.user(), config)
                : source.hasCertificateOf(config);
        this.oidc = new OidcTokens(
                provider,
                url -> source == null
                        ? ProxyRules.of(config, url)
                        : ProxyRules.ofEnvironment(source.environment(), url),
                timekeeper);
    }

    /** Returns the kubeconfig that a caller let fabric8 read; null if there is none, or it cannot be used. */
    private @Nullable Kubeconfig kubeconfigOf(Config config) {
        if (config.getFileWithAuthInfo() == null || config.getCurrentContext() == null) {
            return null;
        }
        try {
            return Kubeconfig.read(
                    filesOf(config),
                    "the client's configuration",
                    Strings.nullToEmpty(config.getCurrentContext().getName()));
        } catch (CredentialsException | InvalidPathException e) {
            unusable = e instanceof CredentialsException ? e.getMessage() : "its name is not a path";
            return null;
        }
    }

    /** Returns the files of the context, its cluster and its user, in the order in which fabric8 merged them. */
    private static List<Path> filesOf(Config config) {
        List<File> merged =
                Config.getKubeconfigFilenames().stream().map(File::new).toList();
        return Stream.of(config.getFile(), config.getFileWithCluster(), config.getFileWithAuthInfo())
                .filter(Objects::nonNull)
                .distinct()
                .sorted(Comparator.comparingInt(merged::indexOf))
                .map(File::toPath)
                .toList();
    }

    /** Returns whether a read starts a process or asks an identity provider, so that reads should be rare. */
    boolean isCostly() {
        return plugin(source == null ? callers : source.kubeconfig())
                || (source == null ? usesOidc() : source.kubeconfig().user().authProvider() != null);
    }

    /** Returns whether the token of the configuration of a caller comes from an identity provider. */
    private boolean usesOidc() {
        return config.getAuthProvider() != null
                && "oidc".equalsIgnoreCase(config.getAuthProvider().getName())
                && config.getOauthTokenProvider() == null
                && Strings.isNullOrEmpty(config.getOauthToken())
                && Strings.isNullOrEmpty(config.getUsername());
    }

    /** @param now the kubeconfig of the caller; null if there is none */
    private Identity ofOidc(@Nullable Kubeconfig now, boolean again) {
        AuthProviderEntry inFile = now == null ? null : now.user().authProvider();
        OidcTokens.IdToken token = now == null || inFile == null
                ? oidc.token(
                        new AuthProviderEntry(
                                "oidc", Map.copyOf(config.getAuthProvider().getConfig())),
                        null,
                        "",
                        why -> new CredentialsException("the client's configuration: " + why))
                : oidc.token(inFile, now.user().file(), now.user().name(), now::ofUser);
        UserCredentials user = new UserCredentials(token.text(), null, token.expires());
        return identity(again ? tls(now) : config, user.token(), again, user);
    }

    private Config tls(@Nullable Kubeconfig now) {
        return now != null
                        && followsCertificate
                        && now.url().equals(server)
                        && now.user().certificate().isNamed()
                ? withTlsOf(now)
                : config;
    }

    private boolean plugin(@Nullable Kubeconfig kubeconfig) {
        if (kubeconfig == null || kubeconfig.user().exec() == null || ownIdentity) {
            return false;
        }
        UserEntry user = kubeconfig.user();
        return user.token().isEmpty()
                && user.tokenFile() == null
                && user.username().isEmpty()
                && !user.certificate().isNamed();
    }

    /** Reads the Config that the client was created with, and the files that it names. */
    Identity first() {
        if (source != null) {
            return followed(source.kubeconfig(), false);
        }
        if (usesOidc()) {
            return ofOidc(callers, false);
        }
        boolean unread = callers != null
                && plugin(callers)
                && Strings.isNullOrEmpty(config.getAutoOAuthToken())
                && Strings.isNullOrEmpty(config.getClientCertData());
        String token = bearer(config.getAutoOAuthToken());
        // fabric8 does not strip what it reads from a file
        Identity first = unread ? again() : identity(config, callers == null ? token.strip() : token, false, null);
        if (unusable != null && !ownIdentity) {
            log.warn(
                    "the kubeconfig of the client's configuration cannot be followed ({}); the client keeps the"
                            + " credentials that it has, and does not notice new ones; correct the kubeconfig, and restart",
                    Quoted.text(unusable));
        }
        return first;
    }

    /** Reads all sources again. */
    Identity again() {
        if (source != null) {
            return followed(source.kubeconfig().reread(), true);
        }
        if (usesOidc()) {
            return ofOidc(callers == null ? null : callers.reread(), true);
        }
        if (ownIdentity) {
            return identity(config, bearer(config.getAutoOAuthToken()), true, null);
        }
        if (callers == null) {
            String token = serviceAccountToken(config).orElse(config.getAutoOAuthToken());
            return identity(config, bearer(token).strip(), true, null);
        }
        Kubeconfig now = callers.reread();
        UserCredentials user = plugin(now) ? UserCredentials.read(now, timekeeper, oidc) : null;
        if (user != null) {
            Config with = user.keys() == null ? config : withoutCertificate(config);
            return identity(with, user.token(), true, user);
        }
        return identity(tls(now), now.user().token(), true, null);
    }

    /** Reads what a configuration of ours stands for. */
    private Identity followed(Kubeconfig now, boolean again) {
        if (!now.url().secure()) {
            return identity(config, "", again, null);
        }
        UserCredentials user = UserCredentials.read(now, timekeeper, oidc);
        if (!followsCertificate) {
            return identity(config, user.token(), again, null);
        }
        ClusterEntry cluster = now.cluster();
        Config tls = copy(withoutCertificate(config))
                .withCaCertFile(
                        cluster.authority() == null ? null : cluster.authority().toString())
                .withCaCertData(cluster.authorityData())
                .build();
        return identity(tls, user.token(), again, user);
    }

    /**
     * Returns the token of a pod's service account, which is replaced once an hour, for a configuration that fabric8 found by
     * itself. Empty if fabric8 did not find it there: the token must not go to the server of a kubeconfig.
     */
    private static Optional<String> serviceAccountToken(Config config) {
        String fixed = Utils.getSystemPropertyOrEnvVar(Config.KUBERNETES_OAUTH_TOKEN_SYSTEM_PROPERTY, "");
        boolean found = Boolean.TRUE.equals(config.getAutoConfigure())
                && config.getCurrentContext() == null
                && Utils.getSystemPropertyOrEnvVar(Config.KUBERNETES_AUTH_TRYSERVICEACCOUNT_SYSTEM_PROPERTY, true)
                && !Strings.isNullOrEmpty(config.getAutoOAuthToken())
                && Strings.isNullOrEmpty(fixed);
        if (!found) {
            return Optional.empty();
        }
        String file = Utils.getSystemPropertyOrEnvVar(
                Config.KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN_FILE_SYSTEM_PROPERTY,
                Config.KUBERNETES_SERVICE_ACCOUNT_TOKEN_PATH);
        try {
            return Optional.of(Files.readString(Path.of(file)).strip());
        } catch (IOException | InvalidPathException unreadable) {
            return Optional.empty();
        }
    }

    private static String bearer(@Nullable String token) {
        return Strings.nullToEmpty(token);
    }

    private static Config withoutCertificate(Config config) {
        return copy(config)
                .withClientCertData(null)
                .withClientCertFile(null)
                .withClientKeyData(null)
                .withClientKeyFile(null)
                .build();
    }

    private Config withTlsOf(Kubeconfig now) {
        KubeconfigEntries.CertificateEntry certificate = now.user().certificate();
        ClusterEntry cluster = now.cluster();
        return copy(config)
                .withClientCertData(certificate.certificateData())
                .withClientCertFile(text(certificate.certificate()))
                .withClientKeyData(certificate.keyData())
                .withClientKeyFile(text(certificate.key()))
                .withCaCertData(cluster.authorityData())
                .withCaCertFile(text(cluster.authority()))
                .build();
    }

    private static @Nullable String text(@Nullable Path file) {
        return file == null ? null : file.toString();
    }

    /** Otherwise build() would read the environment and run a plugin. */
    private static ConfigBuilder copy(Config config) {
        return new ConfigBuilder(config).withAutoConfigure(false);
    }

    /**
     * Makes the identity.
     *
     * @param tls names keys and authorities
     * @param token empty for none, or for that of {@code config}
     * @param user has the keys, unless it is null or has none
     */
    private Identity identity(Config tls, String token, boolean again, @Nullable UserCredentials user) {
        ClientKeys given = user == null ? null : user.keys();
        // one read of each file, because it may be replaced at any time
        TlsSources sources = TlsSources.of(tls);
        ClientKeys read = given == null ? keys(sources, tls) : given;
        requireValid(read, again);
        ConnectionSettings now = settings(tls, read, sources);
        X509Certificate certificate = read == null ? null : read.certificate();
        keys = read;
        reads++;
        return new Identity(
                reads,
                RequestHeaders.of(config, requestConfig, authorization(token)),
                now,
                certificate,
                earlier(user == null ? null : user.expires(), certificate));
    }

    private static @Nullable Instant earlier(@Nullable Instant expires, @Nullable X509Certificate certificate) {
        Instant end = certificate == null ? null : certificate.getNotAfter().toInstant();
        return expires != null && (end == null || expires.isBefore(end)) ? expires : end;
    }

    /** A certificate that another program is about to replace may be one of tomorrow, or of yesterday. */
    private void requireValid(@Nullable ClientKeys read, boolean again) {
        if (read == null || (again && keys != null && keys.certificate().equals(read.certificate()))) {
            return;
        }
        Instant now = timekeeper.wallTime();
        if (read.isTooEarly(now)) {
            throw new CredentialsException("the client certificate " + read + " is not valid before "
                    + read.certificate().getNotBefore().toInstant()
                    + ": set the clock of this machine, or issue the certificate again");
        }
        if (again && read.hasExpired(now)) {
            throw new CredentialsException(
                    "the client certificate " + read + " has expired: renew it where it comes from");
        }
    }

    /** Returns the keys that a configuration names; null for none. */
    private @Nullable ClientKeys keys(TlsSources sources, Config tls) {
        boolean unchanged = keys != null && !hash.isEmpty() && sources.hash(tls).equals(hash);
        return unchanged ? keys : keysOf(sources, tls);
    }

    private static @Nullable ClientKeys keysOf(TlsSources sources, Config tls) {
        if (sources.certificate == null || sources.key == null) {
            return null;
        }
        try {
            return ClientKeys.of(sources.certificate, sources.key);
        } catch (GeneralSecurityException e) {
            throw new CredentialsException("the client certificate or its key cannot be used"
                    + (Strings.isNullOrEmpty(tls.getClientCertFile()) ? "" : " (" + tls.getClientCertFile() + ")")
                    + ": "
                    + e.getMessage());
        }
    }

    /** Returns the settings by {@code tls}: those of the last read, unless a key, a certificate or a CA has changed. */
    private ConnectionSettings settings(Config tls, @Nullable ClientKeys read, TlsSources sources) {
        Optional<HashCode> now = sources.hash(tls);
        ConnectionSettings known = settings;
        boolean sameKeys =
                Objects.equals(keys == null ? null : keys.certificate(), read == null ? null : read.certificate());
        if (known == null || now.isEmpty() || !now.equals(hash) || !sameKeys) {
            boolean compression =
                    source == null || !source.kubeconfig().cluster().disableCompression();
            known = ConnectionSettings.of(tls, read, server, compression);
            settings = known;
            hash = now;
        }
        return known;
    }

    private @Nullable String authorization(String token) {
        if (!Strings.isNullOrEmpty(config.getUsername())) {
            return RequestHeaders.basic(config.getUsername(), config.getPassword());
        }
        String used = token;
        if (source == null) {
            used = callersToken(token);
        }
        return Strings.isNullOrEmpty(used) ? null : RequestHeaders.bearer(used);
    }

    /** The order is that of fabric8. */
    private @Nullable String callersToken(String token) {
        if (config.getOauthTokenProvider() != null) {
            return config.getOauthTokenProvider().getToken();
        }
        if (!Strings.isNullOrEmpty(config.getOauthToken())) {
            return config.getOauthToken();
        }
        if (!Strings.isNullOrEmpty(token)) {
            config.setAutoOAuthToken(token);
        }
        return token;
    }

    /** Returns whether the client has an identity that takes precedence over a plugin, or that is always read again. */
    private static boolean hasOwnIdentity(Config config) {
        return !Strings.isNullOrEmpty(config.getOauthToken())
                || config.getOauthTokenProvider() != null
                || config.getClientCertFile() != null
                || config.getUsername() != null;
    }

    /** Returns whether the client's certificate is for the same subject as that of {@code user}, who may have another since. */
    private static boolean isFrom(UserEntry user, Config config) {
        String used = TlsSources.text(config.getClientCertData(), config.getClientCertFile());
        String now = TlsSources.text(user.certificate().certificateData(), null);
        try {
            return used != null
                    && now != null
                    && ClientKeys.certificate(used)
                            .getSubjectX500Principal()
                            .equals(ClientKeys.certificate(now).getSubjectX500Principal());
        } catch (CertificateException unreadable) {
            // reading the keys fails with the cause
            return false;
        }
    }

    /**
     * What keys and authorities are made of, in PEM format; null if there is none. {@code toString} does not show it.
     */
    private record TlsSources(
            @Nullable String certificate, @Nullable String key) {

        static TlsSources of(Config tls) {
            return new TlsSources(
                    text(tls.getClientCertData(), tls.getClientCertFile()),
                    text(tls.getClientKeyData(), tls.getClientKeyFile()));
        }

        static @Nullable String text(@Nullable String data, @Nullable String file) {
            if (!Strings.isNullOrEmpty(data)) {
                return Kubeconfig.text(Authorities.decoded(data));
            }
            if (Strings.isNullOrEmpty(file)) {
                return null;
            }
            try {
                return Kubeconfig.text(Files.readAllBytes(Path.of(file)));
            } catch (IOException | InvalidPathException e) {
                throw new CredentialsException("a certificate or key cannot be read: file " + file
                        + " cannot be read: correct its path or its permissions");
            }
        }

        @Override
        public String toString() {
            return "TlsSources";
        }

        /** Returns a hash of the keys, certificates and CAs. Empty if a file is unreadable. */
        Optional<HashCode> hash(Config tls) {
            Hasher hasher = Hashing.sha256().newHasher();
            put(hasher, bytes(certificate));
            put(hasher, bytes(key));
            put(hasher, Strings.nullToEmpty(tls.getCaCertData()).getBytes(StandardCharsets.UTF_8));
            try {
                for (String file : Arrays.asList(
                        tls.getCaCertFile(),
                        tls.getKeyStoreFile(),
                        tls.getTrustStoreFile(),
                        // without a named authority, those of the JVM count
                        System.getProperty("javax.net.ssl.trustStore"))) {
                    put(hasher, Strings.isNullOrEmpty(file) ? null : Files.readAllBytes(Path.of(file)));
                }
            } catch (IOException | InvalidPathException unreadable) {
                return Optional.empty();
            }
            return Optional.of(hasher.hash());
        }

        private static byte @Nullable [] bytes(@Nullable String pem) {
            return pem == null ? null : PemText.bytes(pem);
        }

        private static void put(Hasher hasher, byte @Nullable [] part) {
            byte[] bytes = part == null ? new byte[0] : part;
            hasher.putInt(bytes.length).putBytes(bytes);
        }
    }
}
