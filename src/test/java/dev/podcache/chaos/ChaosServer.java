package dev.podcache.chaos;

import dev.podcache.testing.RawApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;

/** An API server that can be made to fail, with the namespace and the node of a run in it. */
interface ChaosServer extends AutoCloseable {

    String NAMESPACE = "chaos";
    String NODE = "worker";

    /** What the writer uses; no fault of the network concerns it. */
    RawApi api();

    /** A client for a cache, which everything concerns that goes wrong. The caller closes it. */
    KubernetesClient client();

    /**
     * What can go wrong, for the caches of {@code world}, whose {@link WatchLog} is told of lists and watches from now on.
     *
     * @param lengthy whether there is time for what takes half a minute
     */
    List<ChaosFault> faults(World world, boolean lengthy);

    /** What carries watches, at worst. */
    Rules.Transport transport();

    /** How long no connection of the caches has been open. */
    Duration disconnectedFor();

    /** How many watches of Secrets and ConfigMaps are open. */
    long openWatches();

    @Override
    void close();
}
