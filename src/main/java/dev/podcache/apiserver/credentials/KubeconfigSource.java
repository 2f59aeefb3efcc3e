package dev.podcache.apiserver.credentials;

import dev.podcache.apiserver.credentials.CredentialPlugin.ExecCredential;
import dev.podcache.apiserver.credentials.KubeconfigEntries.AuthProviderEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.CertificateEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ClusterEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ExecEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ImpersonatedUser;
import dev.podcache.apiserver.credentials.KubeconfigEntries.UserEntry;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Kubeconfig} behind a configuration of fabric8's client. It stays with the configuration when that is copied,
 * as its token provider: so our reader gets all that the configuration has no field for, and fabric8's own client gets the
 * token. Thread-safe.
 */
final class KubeconfigSource implements OAuthTokenProvider {

    private static final Duration BEFORE_EXPIRY = Duration.ofMinutes(1);

    private final Kubeconfig kubeconfig;
    private @Nullable ExecCredential printed; // for fabric8's own client; guarded by this

    private KubeconfigSource(Kubeconfig kubeconfig) {
        this.kubeconfig = kubeconfig;
    }

    /**
     * What was read. {@code toString} shows nothing of it.
     *
     * @param token empty for none
     * @param keys null for none
     * @param expires null if unknown
     */
    record UserCredentials(
            String token,
            @Nullable ClientKeys keys,
            @Nullable Instant expires) {

        @Override
        public String toString() {
            return "credentials until " + expires;
        }
    }

    /** Returns the source of a configuration of {@link #config}, or of a copy of it; null if a caller made it. */
    static @Nullable KubeconfigSource of(Config config) {
        return config.getOauthTokenProvider() instanceof KubeconfigSource source ? source : null;
    }

    /** Returns the configuration; see {@link Kubeconfig#config}. */
    static Config config(Kubeconfig kubeconfig, Map<String, String> environment) {
        ClusterEntry cluster = kubeconfig.cluster();
        UserEntry user = kubeconfig.user();
        Config config = begun(kubeconfig);
        config.setAutoConfigure(false);
        config.setMasterUrl(kubeconfig.url() + "/");
        if (!kubeconfig.namespace().isEmpty()) {
            config.setNamespace(kubeconfig.namespace());
        }
        config.setTrustCerts(cluster.insecure());
        config.setDisableHostnameVerification(cluster.insecure());
        config.setCaCertFile(
                cluster.authority() == null ? null : cluster.authority().toString());
        config.setCaCertData(cluster.authorityData());
        config.setTlsServerName(cluster.tlsServerName().isEmpty() ? null : cluster.tlsServerName());
        setProxy(config, proxy(kubeconfig, environment), kubeconfig.url().secure());
        setImpersonation(config, user.impersonated());
        if (kubeconfig.url().secure()) {
            setCredentials(config, user);
        }
        if (user.authProvider() == null) {
            config.setOauthTokenProvider(new KubeconfigSource(kubeconfig));
        }
        return config;
    }

    /** fabric8 reads an identity provider of the old kind itself, because it writes the renewed tokens to the file. */
    private static Config begun(Kubeconfig kubeconfig) {
        AuthProviderEntry provider = kubeconfig.user().authProvider();
        if (provider == null) {
            return Config.empty();
        }
        if (!provider.name().equals("oidc")) {
            throw kubeconfig.ofUser("auth-provider must be oidc, the others are gone: use a credential plugin");
        }
        try {
            return Config.fromKubeconfig(kubeconfig.user().file().toFile());
        } catch (RuntimeException e) {
            throw kubeconfig.ofUser("auth-provider cannot be read: use a credential plugin");
        }
    }

    private static @Nullable ProxyAddress proxy(Kubeconfig kubeconfig, Map<String, String> environment) {
        ProxyAddress named = kubeconfig.proxy();
        return named == null ? ProxyRules.ofEnvironment(environment, kubeconfig.url()) : named;
    }

    private static void setProxy(Config config, @Nullable ProxyAddress proxy, boolean secure) {
        String url = proxy == null ? null : proxy.url();
        config.setHttpsProxy(secure ? url : null);
        config.setHttpProxy(secure ? null : url);
        config.setNoProxy(new String[0]);
        config.setProxyUsername(proxy == null ? null : proxy.username());
        config.setProxyPassword(proxy == null ? null : proxy.password());
    }

    private static void setImpersonation(Config config, ImpersonatedUser as) {
        if (as.user().isEmpty()) {
            return;
        }
        config.setImpersonateUsername(as.user());
        config.setImpersonateGroups(as.groups().toArray(new String[0]));
        config.setImpersonateExtras(as.extra());
        if (!as.uid().isEmpty()) {
            // fabric8 has no field for it
            Map<String, String> headers = new HashMap<>();
            headers.put(RequestHeaders.IMPERSONATE_UID, as.uid());
            config.setCustomHeaders(headers);
        }
    }

    private static void setCredentials(Config config, UserEntry user) {
        if (!user.username().isEmpty()) {
            config.setUsername(user.username());
            config.setPassword(user.password());
        }
        CertificateEntry certificate = user.certificate();
        config.setClientCertFile(
                certificate.certificate() == null
                        ? null
                        : certificate.certificate().toString());
        config.setClientKeyFile(
                certificate.key() == null ? null : certificate.key().toString());
        config.setClientCertData(certificate.certificateData());
        config.setClientKeyData(certificate.keyData());
        config.setClientKeyAlgo(algorithm(certificate));
    }

    /** Returns the name that fabric8 wants of the algorithm of a key. What cannot be read is refused when it is used. */
    private static String algorithm(CertificateEntry certificate) {
        Path file = certificate.key();
        String data = certificate.keyData();
        try {
            String pem = file == null ? decoded(data) : text(file);
            return PrivateKeys.read(pem).getAlgorithm();
        } catch (GeneralSecurityException | IOException unreadable) {
            return "RSA";
        }
    }

    private static String decoded(@Nullable String data) {
        return data == null ? "" : Kubeconfig.text(Authorities.decoded(data));
    }

    private static String text(Path file) throws IOException {
        return Kubeconfig.text(Files.readAllBytes(file));
    }

    /** Returns the configuration; see {@link Kubeconfig#forFabric8}. */
    static Config forFabric8(Config config) {
        KubeconfigSource source = of(config);
        Kubeconfig kubeconfig = source == null ? null : source.kubeconfig;
        try (Timekeeper timekeeper = Timekeeper.system()) {
            boolean sends = kubeconfig != null && kubeconfig.url().secure();
            UserCredentials user = kubeconfig != null && sends ? read(kubeconfig, timekeeper) : null;
            String token = user == null ? "" : user.token();
            ServerUrl server = kubeconfig == null ? null : kubeconfig.url();
            RequestHeaders.of(config, config.getRequestConfig(), token.isEmpty() ? null : RequestHeaders.bearer(token));
            if (server != null) {
                ConnectionSettings.of(config, null, server, true);
            }
            boolean own = source == null || !source.hasCertificateOf(config);
            ClientKeys keys = own || user == null ? IdentityReader.keysOf(config) : user.keys();
            ConfigBuilder copy = new ConfigBuilder(config).withAutoConfigure(false);
            if (source != null) {
                copy.withOauthTokenProvider(null).withOauthToken(token.isEmpty() ? null : token);
            }
            if (keys != null) {
                copy.withClientCertFile(null)
                        .withClientKeyFile(null)
                        .withClientCertData(Kubeconfig.base64(PemText.bytes(keys.chainPem())))
                        .withClientKeyData(Kubeconfig.base64(PemText.bytes(
                                PemText.of("PRIVATE KEY", keys.key().getEncoded()))))
                        .withClientKeyAlgo(keys.key().getAlgorithm());
            }
            return copy.build();
        }
    }

    /** Returns whether there is a token, or a plugin that may print one. */
    boolean hasToken() {
        UserEntry user = kubeconfig.user();
        return !user.token().isEmpty() || user.tokenFile() != null || user.exec() != null;
    }

    /** Returns whether {@code config} still has the client certificate of the kubeconfig, and not one that was set later. */
    boolean hasCertificateOf(Config config) {
        CertificateEntry certificate = kubeconfig.user().certificate();
        String file = certificate.certificate() == null
                ? null
                : certificate.certificate().toString();
        return Objects.equals(file, config.getClientCertFile())
                && Objects.equals(certificate.certificateData(), config.getClientCertData());
    }

    Kubeconfig kubeconfig() {
        return kubeconfig;
    }

    /**
     * Reads the credentials of a kubeconfig's user: its token, token file or certificate, and its plugin if it has none of
     * these. Blocks.
     *
     * @throws CredentialsException if they cannot be used
     */
    static UserCredentials read(Kubeconfig kubeconfig, Timekeeper timekeeper) {
        UserEntry user = kubeconfig.user();
        ClientKeys keys = user.certificate().isNamed() ? keys(kubeconfig) : null;
        String token = token(kubeconfig);
        ExecEntry exec = user.exec();
        boolean hasOwn = !token.isEmpty() || keys != null || !user.username().isEmpty();
        if (exec == null || hasOwn) {
            return new UserCredentials(token, keys, null);
        }
        ExecCredential credential =
                new CredentialPlugin(exec, kubeconfig.cluster(), kubeconfig::ofUser).run(timekeeper);
        if (HeaderValues.wire(credential.token()).isEmpty()) {
            throw kubeconfig.ofUser("the credential plugin " + exec.command()
                    + " printed a token with a line break or another control character: it must print it without");
        }
        return new UserCredentials(credential.token(), keys(kubeconfig, credential), credential.expires());
    }

    private static @Nullable ClientKeys keys(Kubeconfig kubeconfig, ExecCredential credential) {
        if (credential.certificate().isEmpty()) {
            return null;
        }
        try {
            return ClientKeys.of(credential.certificate(), credential.key());
        } catch (GeneralSecurityException e) {
            throw kubeconfig.ofUser(
                    "the client certificate or the key that its credential plugin printed cannot be used: "
                            + e.getMessage());
        }
    }

    /** A token file wins while it can be read, as in client-go, which trims what it reads there. */
    static String token(Kubeconfig kubeconfig) {
        UserEntry user = kubeconfig.user();
        Path file = user.tokenFile();
        String inline = user.token();
        if (HeaderValues.wire(inline).isEmpty()) {
            throw kubeconfig.ofUser("token has a line break or another control character, which no header may have:"
                    + " write it on one line in quotation marks, not as a block with |");
        }
        if (file == null) {
            return inline;
        }
        String read;
        try {
            read = Files.readString(file, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            if (!inline.isEmpty()) {
                return inline;
            }
            throw kubeconfig.ofUser("tokenFile " + file + " cannot be read: correct its path or its permissions");
        }
        if (HeaderValues.wire(read).isEmpty()) {
            throw kubeconfig.ofUser(
                    "tokenFile " + file + " has more than one line: it must have the token and nothing else");
        }
        if (read.isEmpty() && inline.isEmpty()) {
            throw kubeconfig.ofUser("tokenFile " + file + " is empty: write the token to it");
        }
        return read.isEmpty() ? inline : read;
    }

    private static ClientKeys keys(Kubeconfig kubeconfig) {
        CertificateEntry entry = kubeconfig.user().certificate();
        try {
            return ClientKeys.of(
                    text(kubeconfig, entry.certificate(), entry.certificateData(), "client-certificate"),
                    text(kubeconfig, entry.key(), entry.keyData(), "client-key"));
        } catch (GeneralSecurityException e) {
            throw kubeconfig.ofUser("client-certificate or client-key cannot be used: " + e.getMessage());
        }
    }

    private static String text(Kubeconfig kubeconfig, @Nullable Path file, @Nullable String data, String field) {
        if (file == null) {
            return decoded(data);
        }
        try {
            return text(file);
        } catch (IOException e) {
            throw kubeconfig.ofUser(field + ": file " + file + " cannot be read: correct its path or its permissions");
        }
    }

    /** Returns the token for fabric8's own client; empty for none. Blocks while a file is read or a plugin runs. */
    @Override
    public synchronized String getToken() {
        if (!kubeconfig.url().secure()) {
            return "";
        }
        UserEntry user = kubeconfig.user();
        ExecEntry exec = user.exec();
        if (exec == null
                || !user.token().isEmpty()
                || user.tokenFile() != null
                || user.certificate().isNamed()) {
            return token(kubeconfig);
        }
        try (Timekeeper timekeeper = Timekeeper.system()) {
            ExecCredential known = printed;
            if (known == null || isOver(known, timekeeper.wallTime())) {
                known = new CredentialPlugin(exec, kubeconfig.cluster(), kubeconfig::ofUser).run(timekeeper);
                printed = known;
            }
            return known.token();
        }
    }

    private static boolean isOver(ExecCredential known, Instant now) {
        Instant end = known.expires();
        return end != null && now.isAfter(end.minus(BEFORE_EXPIRY));
    }

    @Override
    public String toString() {
        return "credentials of " + kubeconfig;
    }
}
