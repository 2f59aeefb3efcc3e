package dev.podcache.apiserver.credentials;

import com.google.common.base.Splitter;
import com.google.common.base.Strings;
import com.google.common.net.InetAddresses;
import dev.podcache.apiserver.credentials.KubeconfigEntries.AuthProviderEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.CertificateEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ClusterEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ContextEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ExecEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ImpersonatedUser;
import dev.podcache.apiserver.credentials.KubeconfigEntries.UserEntry;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.net.ssl.SNIHostName;
import org.jspecify.annotations.Nullable;

/**
 * The server, the user and the settings of a kubeconfig's current context, or of a pod's service account. Follows kubectl
 * in all of it: several files are merged, the first one that has an entry or a current context wins. Immutable; {@link
 * #reread} reads the files again.
 */
public final class Kubeconfig {

    private static final Path SERVICE_ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    private final List<Path> files; // none for a service account
    private final String origin;
    private final ContextEntry context;
    private final ClusterEntry cluster;
    private final UserEntry user;
    private final ServerUrl server;

    private Kubeconfig(List<Path> files, String origin, ContextEntry context, ClusterEntry cluster, UserEntry user) {
        this.files = files;
        this.origin = origin;
        this.context = context;
        this.cluster = cluster;
        this.user = user;
        this.server = server();
    }

    /**
     * Reads one file, which must exist. Blocks.
     *
     * @param origin the flag or variable that names the file, for messages
     * @throws CredentialsException if it cannot be used
     */
    public static Kubeconfig read(Path file, String origin) {
        return read(List.of(file), origin, "");
    }

    /**
     * Reads the files that a text such as {@code $KUBECONFIG} lists, of which some may be missing and some names empty.
     * Blocks.
     *
     * @throws CredentialsException if there is none, or one cannot be used
     */
    public static Kubeconfig readList(String list, String origin) {
        Set<Path> files = new LinkedHashSet<>();
        for (String name : Splitter.on(File.pathSeparatorChar).split(list)) {
            if (!name.isEmpty()) {
                try {
                    files.add(Path.of(name));
                } catch (InvalidPathException e) {
                    throw new CredentialsException(origin + " has a name that is not a path: correct it");
                }
            }
        }
        if (files.isEmpty()) {
            throw new CredentialsException(origin + " names no file: give the path of a kubeconfig");
        }
        return read(List.copyOf(files), origin, "");
    }

    /**
     * Returns the access of a pod by its service account, as client-go's {@code InClusterConfig}.
     *
     * @param environment has KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT
     * @throws CredentialsException if they are missing or illegal, or there is no token
     */
    public static Kubeconfig ofServiceAccount(Map<String, String> environment) {
        String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
        String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "");
        if (host.isEmpty() || port.isEmpty()) {
            throw new CredentialsException(
                    "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must both be set: run inside a pod, or set --kubeconfig");
        }
        Path token = setting(Config.KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN_FILE_SYSTEM_PROPERTY, "token");
        Path authority = setting(Config.KUBERNETES_CA_CERTIFICATE_FILE_SYSTEM_PROPERTY, "ca.crt");
        String name = "service account";
        return new Kubeconfig(
                List.of(),
                "the service account",
                new ContextEntry(name, token, name, name, ""),
                new ClusterEntry(
                        name,
                        token,
                        "https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port,
                        Files.exists(authority) ? authority : null,
                        null,
                        false,
                        "",
                        "",
                        false,
                        null),
                new UserEntry(
                        name,
                        token,
                        "",
                        token,
                        "",
                        "",
                        new CertificateEntry(null, null, null, null),
                        ImpersonatedUser.NOBODY,
                        null,
                        null));
    }

    private static Path setting(String property, String usual) {
        String named = System.getProperty(property);
        return named == null ? SERVICE_ACCOUNT.resolve(usual) : Path.of(named);
    }

    /** Reads files for a context; that of the files if {@code chosen} is empty. Blocks. */
    static Kubeconfig read(List<Path> files, String origin, String chosen) {
        String all = files.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        String current = chosen;
        Map<String, ContextEntry> contexts = new LinkedHashMap<>();
        Map<String, ClusterEntry> clusters = new LinkedHashMap<>();
        Map<String, UserEntry> users = new LinkedHashMap<>();
        List<KubeconfigEntries> found = new ArrayList<>();
        for (Path file : files) {
            KubeconfigEntries entries = KubeconfigEntries.read(file, origin);
            if (entries != null) {
                found.add(entries);
                current = current.isEmpty() ? entries.current() : current;
                entries.contexts().forEach(contexts::putIfAbsent);
                entries.clusters().forEach(clusters::putIfAbsent);
                entries.users().forEach(users::putIfAbsent);
            }
        }
        if (found.isEmpty()) {
            throw broken(all, origin, "does not exist: give the path of an existing file");
        }
        if (found.stream().allMatch(KubeconfigEntries::isEmpty)) {
            throw broken(all, origin, "is not a kubeconfig: it must be YAML with clusters, users and contexts");
        }
        if (current.isEmpty()) {
            throw broken(all, origin, "names no current-context: choose one with `kubectl config use-context`");
        }
        ContextEntry context = contexts.get(current);
        if (context == null) {
            throw broken(
                    all,
                    origin,
                    "has no context " + Quoted.value(current)
                            + ", its current-context: choose another with `kubectl config use-context`");
        }
        ClusterEntry cluster = clusters.get(context.cluster());
        if (cluster == null) {
            throw broken(all, origin, "has no cluster " + missing(context.cluster(), context));
        }
        UserEntry user = users.get(context.user());
        UserEntry used = user == null ? nobody(context) : user;
        Kubeconfig read = new Kubeconfig(files, origin, context, cluster, used);
        // over plain HTTP no credentials are sent
        if (user == null && !context.user().isEmpty() && read.server.secure()) {
            throw broken(all, origin, "has no user " + missing(context.user(), context));
        }
        read.requireUsable();
        return read;
    }

    private static String missing(String name, ContextEntry context) {
        return Quoted.value(name) + ", which its context " + Quoted.value(context.name())
                + " names: add it, or name another";
    }

    private static UserEntry nobody(ContextEntry context) {
        return new UserEntry(
                "",
                context.file(),
                "",
                null,
                "",
                "",
                new CertificateEntry(null, null, null, null),
                ImpersonatedUser.NOBODY,
                null,
                null);
    }

    private static CredentialsException broken(String files, String origin, String why) {
        return new CredentialsException("kubeconfig " + files + " (from " + origin + ") " + why);
    }

    private ServerUrl server() {
        String text = cluster.server();
        if (ServerUrl.hasCredentials(text)) {
            throw ofCluster("server has credentials in its URL: write them under users instead");
        }
        return ServerUrl.parse(text)
                .orElseThrow(() -> ofCluster(
                        "server is " + (text.isEmpty() ? "missing" : "not a URL") + ": write it as https://HOST:PORT"));
    }

    private CredentialsException ofCluster(String why) {
        return new CredentialsException("kubeconfig " + cluster.file() + " (from " + origin + "): cluster "
                + Quoted.value(cluster.name()) + ": " + why);
    }

    CredentialsException ofUser(String why) {
        return new CredentialsException(
                "kubeconfig " + user.file() + " (from " + origin + "): user " + Quoted.value(user.name()) + ": " + why);
    }

    /** The checks of client-go's {@code validateClusterInfo} and {@code validateAuthInfo}, and what its transport refuses. */
    private void requireUsable() {
        proxy();
        boolean trusts = cluster.authority() != null || cluster.authorityData() != null;
        if (cluster.authority() != null && cluster.authorityData() != null) {
            throw ofCluster("certificate-authority and certificate-authority-data are both set: remove one");
        }
        if (trusts && cluster.insecure()) {
            throw ofCluster(
                    "insecure-skip-tls-verify is set beside a certificate authority, which would be ignored: remove one");
        }
        requireReadable(cluster.authority(), "certificate-authority", this::ofCluster);
        requireServerName(ConnectionSettings.withoutLastDot(cluster.tlsServerName()));
        boolean hasBasic = !user.username().isEmpty() || !user.password().isEmpty();
        if (hasBasic && (!user.token().isEmpty() || user.tokenFile() != null)) {
            throw ofUser("a token and username are both set: remove one");
        }
        CertificateEntry certificate = user.certificate();
        if (certificate.isNamed()) {
            if (certificate.certificate() != null && certificate.certificateData() != null) {
                throw ofUser("client-certificate and client-certificate-data are both set: remove one");
            }
            if (certificate.key() != null && certificate.keyData() != null) {
                throw ofUser("client-key and client-key-data are both set: remove one");
            }
            if (certificate.key() == null && certificate.keyData() == null) {
                throw ofUser("client-certificate has no client-key: add client-key or client-key-data");
            }
        }
        ImpersonatedUser as = user.impersonated();
        if (as.user().isEmpty()
                && !(as.uid().isEmpty() && as.groups().isEmpty() && as.extra().isEmpty())) {
            throw ofUser("as-uid, as-groups or as-user-extra is set without as: add the user to act as");
        }
        ExecEntry exec = user.exec();
        if (exec != null) {
            if (user.authProvider() != null) {
                throw ofUser("exec and auth-provider are both set: remove one");
            }
            CredentialPlugin.requireLegal(exec, this::ofUser);
        }
        if (user.authProvider() != null) {
            OidcTokens.requireLegal(user.authProvider(), this::ofUser);
        }
    }

    /** What Go's TLS takes: for an address, and for a name with an {@code _}, Podcache sends no name. */
    private void requireServerName(String name) {
        if (name.isEmpty() || InetAddresses.isInetAddress(name)) {
            return;
        }
        try {
            new SNIHostName(name.replace('_', '-'));
        } catch (IllegalArgumentException noName) {
            throw ofCluster(
                    "tls-server-name is not the name of a machine: write one such as api.example, without a port");
        }
    }

    /** Returns the proxy that the cluster names; null for none. */
    @Nullable
    ProxyAddress proxy() {
        return ProxyRules.ofUrl(
                cluster.proxyUrl(),
                () -> ofCluster("proxy-url must be a URL with http, https or socks5: write it as http://HOST:PORT"));
    }

    private static void requireReadable(
            @Nullable Path file, String field, Function<String, CredentialsException> refusal) {
        if (file != null && !Files.isReadable(file)) {
            throw refusal.apply(field + ": file " + file + " cannot be read: correct its path or its permissions");
        }
    }

    /**
     * Reads the files again, for the same context. Blocks.
     *
     * @throws CredentialsException if they cannot be used any more
     */
    Kubeconfig reread() {
        return files.isEmpty() ? this : read(files, origin, context.name());
    }

    ClusterEntry cluster() {
        return cluster;
    }

    UserEntry user() {
        return user;
    }

    ServerUrl url() {
        return server;
    }

    String namespace() {
        return context.namespace();
    }

    /**
     * Returns the same access as a configuration of fabric8, by which the server is opened. Our own reader reads the
     * credentials; a copy of the configuration keeps them. Neither the environment nor a file is read again by fabric8.
     *
     * @param environment has HTTPS_PROXY, HTTP_PROXY and NO_PROXY
     */
    public Config config(Map<String, String> environment) {
        Config config = Config.empty();
        config.setAutoConfigure(false);
        config.setMasterUrl(server + "/");
        if (!context.namespace().isEmpty()) {
            config.setNamespace(context.namespace());
        }
        config.setTrustCerts(cluster.insecure());
        config.setDisableHostnameVerification(cluster.insecure());
        config.setCaCertFile(
                cluster.authority() == null ? null : cluster.authority().toString());
        config.setCaCertData(cluster.authorityData());
        config.setTlsServerName(Strings.emptyToNull(cluster.tlsServerName()));
        ProxyAddress named = proxy();
        ProxyRules.set(config, named == null ? ProxyRules.ofEnvironment(environment, server) : named, server.secure());
        setImpersonation(config, user.impersonated());
        if (server.secure()) {
            setCredentials(config, user);
        }
        config.setOauthTokenProvider(new KubeconfigSource(this, Map.copyOf(environment)));
        return config;
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
    }

    /**
     * The kubeconfig behind a configuration of {@link #config}. It is the token provider, because that stays with the
     * configuration when it is copied: so our reader gets all that the configuration has no field for. Immutable.
     */
    static final class KubeconfigSource implements OAuthTokenProvider {

        private final Kubeconfig kubeconfig;
        private final Map<String, String> environment;

        private KubeconfigSource(Kubeconfig kubeconfig, Map<String, String> environment) {
            this.kubeconfig = kubeconfig;
            this.environment = environment;
        }

        /** Returns the source of a configuration of {@link #config}, or of a copy of it; null if a caller made it. */
        static @Nullable KubeconfigSource of(Config config) {
            return config.getOauthTokenProvider() instanceof KubeconfigSource source ? source : null;
        }

        Kubeconfig kubeconfig() {
            return kubeconfig;
        }

        Map<String, String> environment() {
            return environment;
        }

        /**
         * Returns whether {@code config} still has the client certificate of the kubeconfig, and not one that was set later.
         */
        boolean hasCertificateOf(Config config) {
            CertificateEntry certificate = kubeconfig.user.certificate();
            String file = certificate.certificate() == null
                    ? null
                    : certificate.certificate().toString();
            return Objects.equals(file, config.getClientCertFile())
                    && Objects.equals(certificate.certificateData(), config.getClientCertData());
        }

        /** Returns the token, unless a plugin or an identity provider would have to be asked. Only our own reader asks them. */
        @Override
        public String getToken() {
            return kubeconfig.server.secure() ? UserCredentials.token(kubeconfig) : "";
        }

        @Override
        public String toString() {
            return "credentials of " + kubeconfig;
        }
    }

    /** Returns whether a configuration of {@link #config} has a token, or a plugin or a provider that makes one. */
    public static boolean hasToken(Config config) {
        KubeconfigSource source = KubeconfigSource.of(config);
        if (source == null) {
            return config.getOauthTokenProvider() != null;
        }
        UserEntry user = source.kubeconfig.user;
        return !user.token().isEmpty()
                || user.tokenFile() != null
                || user.exec() != null
                || user.authProvider() != null;
    }

    /**
     * Returns the token that a configuration of {@link #config} has now; empty if there is none, or its plugin would have to
     * run. The one of an identity provider may have expired. Blocks while a file is read.
     *
     * @throws CredentialsException if it cannot be used
     */
    public static String tokenWithoutPlugin(Config config) {
        KubeconfigSource source = KubeconfigSource.of(config);
        if (source == null) {
            return "";
        }
        String token = UserCredentials.token(source.kubeconfig);
        AuthProviderEntry provider = source.kubeconfig.user.authProvider();
        return token.isEmpty() && provider != null ? OidcTokens.known(provider) : token;
    }

    /** Returns the fields of its cluster, for another kubeconfig; the path of the authority is absolute. */
    public Map<String, Object> clusterFields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("server", cluster.server());
        if (cluster.authority() != null) {
            fields.put("certificate-authority", cluster.authority().toString());
        }
        if (cluster.authorityData() != null) {
            fields.put("certificate-authority-data", cluster.authorityData());
        }
        if (cluster.insecure()) {
            fields.put("insecure-skip-tls-verify", true);
        }
        if (!cluster.tlsServerName().isEmpty()) {
            fields.put("tls-server-name", cluster.tlsServerName());
        }
        if (!cluster.proxyUrl().isEmpty()) {
            fields.put("proxy-url", cluster.proxyUrl());
        }
        if (cluster.disableCompression()) {
            fields.put("disable-compression", true);
        }
        return fields;
    }

    static String base64(byte[] data) {
        return Base64.getEncoder().encodeToString(data);
    }

    static String text(byte[] pem) {
        return new String(pem, StandardCharsets.ISO_8859_1);
    }

    /** Returns where it was read from. */
    @Override
    public String toString() {
        return files.isEmpty() ? origin : "kubeconfig " + files;
    }
}
