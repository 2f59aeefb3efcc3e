package dev.podcache.cli.config;

import com.google.common.base.Strings;
import com.google.common.base.Throwables;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.apiserver.http.CombinedPem;
import dev.podcache.cli.output.CommandException;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.MalformedInputException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the API server and the credentials: in the kubeconfig of {@code --kubeconfig}, else of {@code $KUBECONFIG}, else
 * in the pod's service account, else in {@code ~/.kube/config}. Checks a kubeconfig before fabric8 reads it, because
 * fabric8 falls back to another server if the file is incomplete. Messages never quote the file: it contains credentials.
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
        if (kubeconfig != null) {
            return read(kubeconfig, "--kubeconfig");
        }
        String variable = environment.getOrDefault("KUBECONFIG", "");
        if (!variable.isBlank()) {
            if (variable.contains(File.pathSeparator)) {
                throw new CommandException(
                        "KUBECONFIG names several files (" + variable + "): name the one to use with --kubeconfig",
                        null);
            }
            return read(Path.of(variable), "KUBECONFIG");
        }
        if (environment.containsKey("KUBERNETES_SERVICE_HOST")) {
            // fabric8 would prefer a kubeconfig in the home directory to the service account
            System.setProperty(Config.KUBERNETES_AUTH_TRYKUBECONFIG_SYSTEM_PROPERTY, "false");
            return Config.autoConfigure(null);
        }
        Path usual = home.resolve(".kube").resolve("config");
        if (Files.exists(usual)) {
            return read(usual, "the default kubeconfig");
        }
        throw new CommandException(
                "no cluster to connect to: set --kubeconfig or KUBECONFIG, or run inside a pod (" + usual
                        + " does not exist either); `podcache demo` needs no cluster",
                null);
    }

    /**
     * Returns a client for {@code config}, to be closed by the caller.
     *
     * @throws CommandException if a certificate or key in it cannot be used
     */
    public static KubernetesClient client(Config config) {
        try {
            return new KubernetesClientBuilder()
                    .withConfig(CombinedPem.separated(config))
                    .build();
        } catch (KubernetesClientException e) {
            throw unusable(config, e);
        }
    }

    /**
     * Returns the API server that {@code config} names, to be closed by the caller, without a client. Reads the
     * credentials; blocks meanwhile.
     *
     * @throws CommandException if a certificate or key in it cannot be used
     */
    public static Fabric8ApiServer server(Config config, RequestLimit limit) {
        Fabric8ApiServer server = Fabric8ApiServer.of(config, limit);
        try {
            server.rereadCredentials().join();
        } catch (CompletionException e) {
            // anything else, such as an identity provider that cannot be reached, may pass: requests try again
            if (e.getCause() instanceof KubernetesClientException unreadable) {
                server.close();
                throw unusable(config, unreadable);
            }
        }
        return server;
    }

    private static CommandException unusable(Config config, Exception e) {
        Throwable root = Throwables.getRootCause(e);
        String why = root instanceof FileSystemException file
                ? "file " + file.getFile() + " cannot be read"
                : "it is malformed (" + root.getClass().getSimpleName() + ")";
        return new CommandException(
                "API server " + config.getMasterUrl() + ": a certificate or key for it cannot be used: " + why
                        + "; correct it in the kubeconfig",
                e);
    }

    /** Returns whether {@code config} has no credentials. */
    public static boolean isAnonymous(Config config) {
        return config.getOauthTokenProvider() == null
                && Stream.of(
                                config.getOauthToken(),
                                config.getAutoOAuthToken(),
                                config.getUsername(),
                                config.getClientCertData(),
                                config.getClientCertFile())
                        .allMatch(Strings::isNullOrEmpty);
    }

    /** Returns the configuration in a kubeconfig that the option {@code origin} names. */
    static Config read(Path file, String origin) {
        if (file.toString().isEmpty()) {
            throw new CommandException(origin + " is empty: give the path of a kubeconfig", null);
        }
        if (Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file)) {
            throw broken(file, origin, "is not a regular file, and is read more than once: write it to a file", null);
        }
        cluster(file, origin);
        try {
            return TokenFile.usedBy(Config.fromKubeconfig(file.toFile()), file);
        } catch (KubernetesClientException | IllegalArgumentException e) {
            throw broken(file, origin, "cannot be used", e);
        }
    }

    /** Returns the cluster of the current context in a complete kubeconfig. */
    static NamedCluster cluster(Path file, String origin) {
        io.fabric8.kubernetes.api.model.Config content = parsed(file, origin);
        String current = content.getCurrentContext();
        if (current == null || current.isEmpty()) {
            throw broken(file, origin, "names no current-context: choose one with `kubectl config use-context`", null);
        }
        String cluster = content.getContexts().stream()
                .filter(context -> context != null)
                .filter(context -> current.equals(context.getName()) && context.getContext() != null)
                .map(NamedContext::getContext)
                .map(context -> String.valueOf(context.getCluster()))
                .findFirst()
                .orElseThrow(() -> broken(
                        file, origin, "has no context " + Quoted.value(current) + ", its current-context", null));
        NamedCluster named = content.getClusters().stream()
                .filter(candidate -> candidate != null)
                .filter(candidate -> cluster.equals(candidate.getName()) && candidate.getCluster() != null)
                .findFirst()
                .orElseThrow(() -> broken(
                        file,
                        origin,
                        "has no cluster " + Quoted.value(cluster) + ", which its context " + Quoted.value(current)
                                + " names",
                        null));
        requireUrl(file, origin, String.valueOf(named.getCluster().getServer()));
        return named;
    }

    private static io.fabric8.kubernetes.api.model.Config parsed(Path file, String origin) {
        String text = text(file, origin);
        try {
            io.fabric8.kubernetes.api.model.Config content =
                    Serialization.unmarshal(text, io.fabric8.kubernetes.api.model.Config.class);
            if (content != null) {
                return content;
            }
        } catch (RuntimeException e) {
            // its message may quote the file, so it is not used
        }
        throw broken(file, origin, "is not a kubeconfig: it must be YAML with clusters, users and contexts", null);
    }

    private static String text(Path file, String origin) {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            throw broken(file, origin, "does not exist: give the path of an existing file", e);
        } catch (MalformedInputException e) {
            throw broken(file, origin, "is not a kubeconfig: it is not text", e);
        } catch (IOException e) {
            String why = Files.isDirectory(file) ? "is a directory" : "cannot be read (" + e.getMessage() + ")";
            throw broken(file, origin, why, e);
        }
    }

    private static void requireUrl(Path file, String origin, String server) {
        try {
            URI url = new URI(server);
            if (url.getUserInfo() != null) {
                throw broken(
                        file, origin, "has credentials in the URL of its server: write them under users instead", null);
            }
            if (List.of("http", "https").contains(String.valueOf(url.getScheme())) && url.getHost() != null) {
                return;
            }
        } catch (URISyntaxException e) {
            // refused below
        }
        throw broken(
                file, origin, "has " + Quoted.value(server) + " for its server: write it as https://HOST:PORT", null);
    }

    private static CommandException broken(Path file, String origin, String why, @Nullable Throwable cause) {
        return new CommandException("kubeconfig " + file + " (from " + origin + ") " + why, cause);
    }
}
