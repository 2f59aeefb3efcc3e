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

/**
 * Asks the API server once whether it is there and lets us in, so that a wrong address is a message and not a silence.
 */
public final class FirstContact {

    private static final Duration PATIENCE = Duration.ofSeconds(8);

    private FirstContact() {}

    /**
     * Lists the pods of the node.
     *
     * @param config of the server, for the message
     * @throws CommandException if that fails; the message names the server and the remedy
     */
    public static void with(Fabric8ApiServer server, String node, Config config) {
        try {
            server.listerWatcher(ObjectKind.POD, "", NodePorts.podsOf(node))
                    .list(PATIENCE)
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
            return "nothing was sent that says who asks: check the certificate, token or exec plugin of the kubeconfig's user";
        }
        return switch (failure.reason()) {
            case UNAVAILABLE, TIMEOUT -> "check that it runs there, and the server in the kubeconfig";
            case UNAUTHORIZED -> "check the credentials in the kubeconfig: they may have expired";
            case FORBIDDEN -> "grant list and watch on pods (a kubelet's credentials have it for its own node)";
            case THROTTLED -> "it is overloaded, try again later";
            default ->
                "check that the server in the kubeconfig is a Kubernetes API server, and that its scheme is right";
        };
    }
}
