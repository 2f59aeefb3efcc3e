package dev.podcache.cli.config;

import dev.podcache.cli.output.CommandException;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The token in the file that a kubeconfig names with {@code tokenFile}, which fabric8 ignores. Read for each request,
 * because the token of a pod's service account is replaced once an hour. While the file cannot be read, the last token is
 * used. Thread-safe.
 */
final class TokenFile implements OAuthTokenProvider {

    private static final Logger log = LoggerFactory.getLogger(TokenFile.class);

    private final Path file;
    private volatile String last;

    private TokenFile(Path file) throws IOException {
        this.file = file;
        this.last = read();
    }

    /**
     * Makes {@code config} use the token file of its user, if the kubeconfig names one.
     *
     * @param kubeconfig the file that {@code config} was read from
     * @return {@code config}
     * @throws CommandException if the file cannot be read
     */
    static Config usedBy(Config config, Path kubeconfig) {
        Optional<Path> named = named(config, kubeconfig);
        if (named.isPresent()) {
            try {
                config.setOauthTokenProvider(new TokenFile(named.get()));
            } catch (IOException e) {
                throw new CommandException(
                        "kubeconfig " + kubeconfig + " names the tokenFile " + named.get() + ", which cannot be read: "
                                + e.getClass().getSimpleName(),
                        e);
            }
        }
        return config;
    }

    /** A relative path is relative to its kubeconfig. */
    private static Optional<Path> named(Config config, Path kubeconfig) {
        if (config.getCurrentContext() == null) {
            return Optional.empty();
        }
        String user = config.getCurrentContext().getContext().getUser();
        return Optional.ofNullable(
                        KubeConfigUtils.parseConfig(kubeconfig.toFile()).getUsers())
                .stream()
                .flatMap(users -> users.stream())
                .filter(each -> Objects.equals(each.getName(), user) && each.getUser() != null)
                .map(NamedAuthInfo::getUser)
                .filter(found ->
                        found.getTokenFile() != null && !found.getTokenFile().isEmpty())
                .map(found -> kubeconfig.toAbsolutePath().resolveSibling(found.getTokenFile()))
                .findFirst();
    }

    @Override
    public String getToken() {
        try {
            last = read();
        } catch (IOException e) {
            log.warn(
                    "the token in {} cannot be read ({}); the last one is used",
                    file,
                    e.getClass().getSimpleName());
        }
        return last;
    }

    private String read() throws IOException {
        return Files.readString(file).strip();
    }
}
