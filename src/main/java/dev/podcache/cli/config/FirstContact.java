package dev.podcache.cli.config;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.output.CommandException;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.client.Config;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLException;

/** Makes a first request to the API server, so that a wrong address or missing permission is reported at once. */
public final class FirstContact {

    private static final Duration TIMEOUT = Duration.ofSeconds(8);

    private FirstContact() {}

    /**
     * Lists the pods of the node.
     *
     * @param config for the message
     * @throws CommandException if the request fails; the message names the server and says how to correct it
     */
    public static void with(Fabric8ApiServer server, String node, Config config) {
        try {
            server.listerWatcher(ObjectKind.POD, "", NodePorts.podsOf(node))
                    .list(TIMEOUT)
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ApiServerException failure) {
                throw new CommandException(
                        "API server " + config.getMasterUrl() + ": " + failure.getMessage() + "; "
                                + remedy(failure, config),
                        failure);
            }
            throw e;
        }
    }

    private static String remedy(ApiServerException failure, Config config) {
        if (failure.getCause() instanceof SSLException) {
            return "check certificate-authority, tls-server-name and the client certificate in the kubeconfig";
        }
        boolean refused = failure.reason() == FailureReason.UNAUTHORIZED || failure.reason() == FailureReason.FORBIDDEN;
        if (refused && ClusterAccess.isAnonymous(config)) {
            return "no credentials were sent: check the certificate, token or exec plugin of the kubeconfig's user";
        }
        return switch (failure.reason()) {
            case UNAVAILABLE, TIMEOUT -> "check that it runs there, and the server in the kubeconfig";
            case UNAUTHORIZED -> "check the credentials in the kubeconfig: they may have expired";
            case FORBIDDEN -> "grant list and watch on pods (a kubelet's credentials have it for its own node)";
            case THROTTLED -> "the server is overloaded, try again later";
            default ->
                "check that the server in the kubeconfig is a Kubernetes API server, and that its scheme is right";
        };
    }
}
