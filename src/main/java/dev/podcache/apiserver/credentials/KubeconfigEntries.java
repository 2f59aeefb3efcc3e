package dev.podcache.apiserver.credentials;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The entries of a kubeconfig, each with the file that it stands in. No {@code toString} shows a value. */
final class KubeconfigEntries {

    private KubeconfigEntries() {}

    /** A context; the names are empty if it has none. */
    record ContextEntry(String name, Path file, String cluster, String user, String namespace) {}

    /**
     * A cluster. Texts are empty, and data null, where nothing is given.
     *
     * @param authority the file of the authority, absolute
     * @param authorityData in base64
     * @param execConfig what {@code extensions} has for credential plugins; null for nothing
     */
    record ClusterEntry(
            String name,
            Path file,
            String server,
            @Nullable Path authority,
            @Nullable String authorityData,
            boolean insecure,
            String tlsServerName,
            String proxyUrl,
            boolean disableCompression,
            @Nullable Object execConfig) {

        @Override
        public String toString() {
            return "cluster " + name + " of " + file;
        }
    }

    /** A user. Texts are empty, and data null, where nothing is given. */
    record UserEntry(
            String name,
            Path file,
            String token,
            @Nullable Path tokenFile,
            String username,
            String password,
            CertificateEntry certificate,
            ImpersonatedUser impersonated,
            @Nullable ExecEntry exec,
            @Nullable AuthProviderEntry authProvider) {

        @Override
        public String toString() {
            return "user " + name + " of " + file;
        }
    }

    /** A client certificate and its key: a file, or data in base64, of each. */
    record CertificateEntry(
            @Nullable Path certificate,
            @Nullable String certificateData,
            @Nullable Path key,
            @Nullable String keyData) {

        boolean isNamed() {
            return certificate != null || certificateData != null;
        }

        @Override
        public String toString() {
            return "certificate " + (certificate == null ? "" : certificate);
        }
    }

    /** Whom requests act as. If {@code user} is empty, they act as the user of the credentials. */
    record ImpersonatedUser(String user, String uid, List<String> groups, Map<String, List<String>> extra) {

        static final ImpersonatedUser NOBODY = new ImpersonatedUser("", "", List.of(), Map.of());
    }

    /**
     * A credential plugin.
     *
     * @param command absolute, or to be found in the PATH
     */
    record ExecEntry(
            String apiVersion,
            String command,
            List<String> args,
            Map<String, String> env,
            String installHint,
            boolean provideClusterInfo,
            String interactiveMode) {

        @Override
        public String toString() {
            return "credential plugin " + command;
        }
    }

    /** An identity provider of the old kind. */
    record AuthProviderEntry(String name, Map<String, String> config) {

        @Override
        public String toString() {
            return "auth-provider " + name;
        }
    }
}
