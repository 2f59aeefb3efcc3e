package dev.podcache.apiserver.http;

import com.google.common.base.Throwables;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.Credentials;
import dev.podcache.apiserver.credentials.CredentialsException;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to identity providers, each over connections that are closed after it, because there is one an hour at most.
 * Thread-safe.
 */
final class IdentityProvider implements Credentials.ProviderRequests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int LONGEST = 1 << 20;

    private final Timekeeper timekeeper;

    IdentityProvider(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    @Override
    public byte[] send(Config connection, String path, @Nullable String form) {
        ServerRequest request = form == null
                ? ServerRequest.get("GET settings of the identity provider", path)
                : ServerRequest.of(
                        "POST refresh token to the identity provider",
                        "POST",
                        path,
                        new ServerRequest.Body("application/x-www-form-urlencoded", form));
        try (ApiConnections connections = new ApiConnections(
                connection.getMasterUrl(),
                connection,
                connection.getRequestConfig(),
                timekeeper,
                (any, status) -> {})) {
            return connections
                    .send(Duration.ZERO, request, TIMEOUT, LONGEST, body -> body)
                    .join();
        } catch (CompletionException e) {
            if (Throwables.getRootCause(e) instanceof CredentialsException refused) {
                throw refused;
            }
            if (ApiServerException.causeOf(e) instanceof ApiServerException failure) {
                throw failure;
            }
            throw e;
        }
    }
}
