package dev.podcache.cli.config;

import com.google.common.base.Strings;
import com.google.common.base.Throwables;
import dev.podcache.apiserver.credentials.CredentialsException;
import dev.podcache.apiserver.credentials.Kubeconfig;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.cli.output.CommandException;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the API server and the credentials: in the kubeconfig of {@code --kubeconfig}, else in those of {@code
 * $KUBECONFIG}, else in the pod's service account, else in {@code ~/.kube/config}. Messages never quote a file: it contains
 * credentials.
 */
public final class ClusterAccess {

    private final Map<String, String> environment;
    private final Path home;

    /**
     * Makes an instance.
     *
     * @param environment the environment variables
     * @param home the user's home directory
     */
    public ClusterAccess(Map<String, String> environment, Path home) {
        this.environment = environment;
        this.home = home;
    }

    /**
     * Returns the configuration to connect with.
     *
     * @param kubeconfig null if the option was not given
     * @throws CommandException if no configuration is found, or it is invalid; the message says how to correct it
     */
    public Config config(@Nullable Path kubeconfig) {
        return used(() -> found(kubeconfig).config(environment));
    }

    private Kubeconfig found(@Nullable Path kubeconfig) {
        if (kubeconfig != null) {
            return read(kubeconfig, "--kubeconfig");
        }
        String variable = environment.getOrDefault("KUBECONFIG", "");
        if (!variable.isBlank()) {
            return Kubeconfig.readList(variable, "KUBECONFIG");
        }
        if (environment.containsKey("KUBERNETES_SERVICE_HOST")) {
            return Kubeconfig.ofServiceAccount(environment);
        }
        Path usual = home.resolve(".kube").resolve("config");
        if (Files.exists(usual)) {
            return Kubeconfig.read(usual, "the default kubeconfig");
        }
        throw new CommandException(
                "no cluster to connect to: set --kubeconfig or KUBECONFIG, or run inside a pod (" + usual
                        + " does not exist either); `podcache demo` needs no cluster",
                null);
    }

    /** Returns the configuration in a kubeconfig that an option names. */
    Config config(Path kubeconfig, String option) {
        return used(() -> read(kubeconfig, option).config(environment));
    }

    /**
     * Reads a kubeconfig.
     *
     * @throws CommandException if it cannot be used
     */
    static Kubeconfig read(Path file, String option) {
        if (file.toString().isEmpty()) {
            throw new CommandException(option + " is empty: give the path of a kubeconfig", null);
        }
        return used(() -> Kubeconfig.read(file, option));
    }

    private static <T> T used(Supplier<T> read) {
        try {
            return read.get();
        } catch (CredentialsException e) {
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Returns the API server that {@code config} names, to be closed by the caller, without a client. Reads the
     * credentials; blocks meanwhile.
     *
     * @throws CommandException if the credentials cannot be used
     */
    public static Fabric8ApiServer server(Config config, RequestLimit limit) {
        Fabric8ApiServer server = Fabric8ApiServer.of(config, limit);
        try {
            server.rereadCredentials().join();
        } catch (CompletionException e) {
            // anything else, such as an identity provider that cannot be reached, may pass: requests try again
            if (Throwables.getRootCause(e) instanceof CredentialsException unusable) {
                server.close();
                throw unusable(config, unusable);
            }
        }
        return server;
    }

    private static CommandException unusable(Config config, CredentialsException e) {
        return new CommandException(
                "API server " + config.getMasterUrl() + ": its credentials or settings cannot be used: "
                        + e.getMessage(),
                e);
    }

    /** Returns whether {@code config} has no credentials. */
    public static boolean isAnonymous(Config config) {
        return !Kubeconfig.hasToken(config)
                && Stream.of(
                                config.getOauthToken(),
                                config.getAutoOAuthToken(),
                                config.getUsername(),
                                config.getClientCertData(),
                                config.getClientCertFile())
                        .allMatch(Strings::isNullOrEmpty);
    }
}
