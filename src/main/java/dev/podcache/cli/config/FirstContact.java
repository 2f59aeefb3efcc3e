package dev.podcache.cli.config;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.output.CommandException;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.EventWriter;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.client.Config;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the API server before a command does anything else, so that a wrong address or missing permission is reported
 * at once. A server that does not answer may start later, or this machine may be overloaded: that is reported as the event
 * {@code waiting}, and tried again.
 */
public final class FirstContact {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** What the first request may take in a JVM that has loaded none of the classes that it needs. */
    private static final Duration COLD_START = Duration.ofSeconds(5);

    private static final Duration PAUSE = Duration.ofSeconds(2);

    private final Fabric8ApiServer server;
    private final Config config;
    private final Console console;
    private final EventWriter events;
    private String reported = "";

    /** @param config of the server, for messages */
    public FirstContact(Fabric8ApiServer server, Config config, Console console, EventWriter events) {
        this.server = server;
        this.config = config;
        this.console = console;
        this.events = events;
    }

    /**
     * Lists objects, until that succeeds. They should be few.
     *
     * @param fieldSelector of the objects, such as {@code metadata.name=worker-1}
     * @param limit null to wait without limit
     * @return false if the command is to end
     * @throws CommandException if the server refuses the request, or {@code limit} has passed; the message names the
     *     server and says how to correct it
     */
    public boolean await(ObjectKind<?> kind, String fieldSelector, @Nullable Duration limit) {
        Duration least = limit != null && limit.compareTo(COLD_START) > 0 ? limit : COLD_START;
        Duration timeout = limit != null && least.compareTo(TIMEOUT) < 0 ? least : TIMEOUT;
        long start = System.nanoTime();
        while (true) {
            CompletableFuture<?> list =
                    server.listerWatcher(kind, "", fieldSelector).list(timeout);
            if (!console.await(list, events)) {
                return false;
            }
            ApiServerException failure = failureOf(list);
            if (failure == null) {
                return true;
            }
            String text =
                    "API server " + config.getMasterUrl() + ": " + failure.getMessage() + "; " + remedy(failure, kind);
            boolean over = limit != null
                    && System.nanoTime() - start >= limit.minus(PAUSE).toNanos();
            if (over || !mayBecomeReachable(failure)) {
                throw new CommandException(text, failure);
            }
            report(text);
            if (!console.await(PAUSE, events)) {
                return false;
            }
        }
    }

    private static @Nullable ApiServerException failureOf(CompletableFuture<?> request) {
        try {
            request.join();
            return null;
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                return failure;
            }
            throw e;
        }
    }

    private static boolean mayBecomeReachable(ApiServerException failure) {
        return !(failure.getCause() instanceof SSLException)
                && switch (failure.reason()) {
                    case UNAVAILABLE, TIMEOUT, THROTTLED -> true;
                    default -> false;
                };
    }

    private void report(String text) {
        if (!text.equals(reported)) {
            reported = text;
            events.write(ProgramEvent.of("waiting", "message", text));
        }
    }

    private String remedy(ApiServerException failure, ObjectKind<?> kind) {
        if (failure.getCause() instanceof SSLException) {
            return "check certificate-authority, tls-server-name and the client certificate in the kubeconfig";
        }
        boolean refused = failure.reason() == FailureReason.UNAUTHORIZED || failure.reason() == FailureReason.FORBIDDEN;
        if (refused && ClusterAccess.isAnonymous(config)) {
            return "no credentials were sent: check the certificate, token or exec plugin of the kubeconfig's user";
        }
        return switch (failure.reason()) {
            case UNAVAILABLE -> "check that it runs there, and the server in the kubeconfig";
            case TIMEOUT -> "check that it runs there, and that this machine is not overloaded";
            case UNAUTHORIZED -> "check the credentials in the kubeconfig: they may have expired";
            case FORBIDDEN ->
                "grant list and watch on " + kind.plural()
                        + (kind.equals(ObjectKind.POD) ? " (a kubelet's credentials have it for its own node)" : "");
            case THROTTLED -> "the server is overloaded, try again later";
            default ->
                "check that the server in the kubeconfig is a Kubernetes API server, and that its scheme is right";
        };
    }
}
