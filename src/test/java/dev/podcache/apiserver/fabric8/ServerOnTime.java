package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.function.ObjIntConsumer;

/** Makes a {@link Fabric8ApiServer} whose time a test chooses. */
public final class ServerOnTime {

    private ServerOnTime() {}

    /**
     * The server of {@code client}.
     *
     * @param timekeeper closed with the server
     * @param observer called with 0 when a request is first sent, then with the status of each answer
     */
    public static Fabric8ApiServer of(
            KubernetesClient client,
            RequestLimit limit,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        return new Fabric8ApiServer(client, limit, timekeeper, observer);
    }
}
