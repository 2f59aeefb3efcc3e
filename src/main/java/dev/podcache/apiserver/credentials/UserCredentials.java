package dev.podcache.apiserver.credentials;

import dev.podcache.apiserver.credentials.CredentialPlugin.ExecCredential;
import dev.podcache.apiserver.credentials.KubeconfigEntries.AuthProviderEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.CertificateEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.ExecEntry;
import dev.podcache.apiserver.credentials.KubeconfigEntries.UserEntry;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of a kubeconfig's user, as read at one moment. Immutable. {@code toString} shows nothing of them.
 *
 * @param token empty for none
 * @param keys null for none
 * @param expires when a plugin or a provider must be asked again; null if unknown
 */
record UserCredentials(
        String token, @Nullable ClientKeys keys, @Nullable Instant expires) {

    /**
     * Reads the credentials of a kubeconfig's user: its token, token file or certificate; its plugin if it has none of these;
     * its identity provider if it has no token. Blocks.
     *
     * @param oidc renews the tokens of an identity provider
     * @throws CredentialsException if they cannot be used
     * @throws dev.podcache.apiserver.ApiServerException if an identity provider does not answer
     */
    static UserCredentials read(Kubeconfig kubeconfig, Timekeeper timekeeper, OidcTokens oidc) {
        UserEntry user = kubeconfig.user();
        ClientKeys keys = user.certificate().isNamed() ? keys(kubeconfig) : null;
        String token = token(kubeconfig);
        ExecEntry exec = user.exec();
        boolean hasOwn = !token.isEmpty() || !user.username().isEmpty();
        AuthProviderEntry provider = user.authProvider();
        if (provider != null && !hasOwn) {
            OidcTokens.IdToken id = oidc.token(provider, user.file(), user.name(), kubeconfig::ofUser);
            return new UserCredentials(id.text(), keys, id.expires());
        }
        if (exec == null || hasOwn || keys != null) {
            return new UserCredentials(token, keys, null);
        }
        ExecCredential credential =
                new CredentialPlugin(exec, kubeconfig.cluster(), kubeconfig::ofUser).run(timekeeper);
        if (RequestHeaders.wire(credential.token()).isEmpty()) {
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
        if (RequestHeaders.wire(inline).isEmpty()) {
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
        if (RequestHeaders.wire(read).isEmpty()) {
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

    private static String decoded(@Nullable String data) {
        return data == null ? "" : Kubeconfig.text(Authorities.decoded(data));
    }

    private static String text(Path file) throws IOException {
        return Kubeconfig.text(Files.readAllBytes(file));
    }

    @Override
    public String toString() {
        return "credentials until " + expires;
    }
}
