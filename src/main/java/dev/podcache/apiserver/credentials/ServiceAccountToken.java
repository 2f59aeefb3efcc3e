package dev.podcache.apiserver.credentials;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.utils.Utils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/** The token of a pod's service account for a configuration that fabric8 found by itself; it is replaced once an hour. */
final class ServiceAccountToken {

    private ServiceAccountToken() {}

    /** Returns what is in the file now, unless the environment has a token. Empty if fabric8 did not find it there. */
    static Optional<String> of(Config config) {
        String fixed = Utils.getSystemPropertyOrEnvVar(Config.KUBERNETES_OAUTH_TOKEN_SYSTEM_PROPERTY, "");
        if (!Boolean.TRUE.equals(config.getAutoConfigure()) || !Strings.isNullOrEmpty(fixed)) {
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
}
