package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.http.RequestObserver;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Makes a {@link Fabric8ApiServer} whose time a test chooses. */
public final class ServerOnTime {

    private ServerOnTime() {}

    /** That of {@code client}, whose requests {@code observer} is told of; closes {@code timekeeper} with itself. */
    public static Fabric8ApiServer of(
            KubernetesClient client, RequestLimit limit, Timekeeper timekeeper, RequestObserver observer) {
        return new Fabric8ApiServer(client, limit, timekeeper, observer);
    }
}
