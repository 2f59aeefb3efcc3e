package dev.podcache.kubelet.server;

import com.google.common.net.InetAddresses;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.NotApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link KubeletServer}. {@link #pods}, {@link #runtime} and {@link #reviews} are required. The
 * suppliers are called for each request that needs them; they must be thread-safe, and may block. Not thread-safe.
 */
public final class KubeletServerBuilder {

    private static final int KUBELET_PORT = 10250;

    final String node;
    final Timekeeper timekeeper;
    String address = "0.0.0.0";
    int port = KUBELET_PORT;
    List<Path> certificate = List.of();
    List<Path> clientAuthority = List.of();
    private Supplier<Optional<String>> health = Optional::empty;
    private ComponentInfo component = ComponentInfo.of("podcache", "0.0.0");
    private Optional<Supplier<List<ObjectEntry>>> objects = Optional.empty();
    private Optional<Supplier<String>> metrics = Optional.empty();
    private Optional<NodeView> page = Optional.empty();
    private Supplier<List<ProbeSeries>> probes = List::of;
    private @Nullable Supplier<List<Pod>> pods;
    private @Nullable PodRuntime runtime;
    private @Nullable AccessReviews reviews;

    KubeletServerBuilder(String node, Timekeeper timekeeper) {
        this.node = Objects.requireNonNull(node, "node");
        this.timekeeper = Objects.requireNonNull(timekeeper, "timekeeper");
        if (node.isEmpty()) {
            throw new IllegalArgumentException("the name of the node must not be empty");
        }
    }

    /**
     * Sets the address to listen on. Default: {@code 0.0.0.0}, all IPv4 addresses.
     *
     * @throws IllegalArgumentException if it is not an IP address
     */
    public KubeletServerBuilder address(String newAddress) {
        address = ListenAddress.address("the address", newAddress);
        return this;
    }

    /**
     * Sets the port to listen on; 0 for any free port. Default: 10250.
     *
     * @throws IllegalArgumentException if it is not between 0 and 65535
     */
    public KubeletServerBuilder port(int newPort) {
        port = ListenAddress.port("the port", newPort);
        return this;
    }

    /**
     * Sets the certificate of the server, with its chain, and its private key, in PEM files, which may be one file. The
     * files are read when the server starts and every 10 s, so that a renewed certificate is used. Default: a
     * self-signed certificate that is made when the server starts.
     */
    public KubeletServerBuilder certificate(Path certificateFile, Path keyFile) {
        certificate = List.of(certificateFile, keyFile);
        return this;
    }

    /**
     * Sets the PEM file with the certificates of the authority that signs the certificates of clients; a kubelet's
     * {@code authentication.x509.clientCAFile}. The file is read when the server starts and every 10 s. Default: client
     * certificates are not accepted, so all clients need tokens.
     */
    public KubeletServerBuilder clientAuthority(Path file) {
        clientAuthority = List.of(file);
        return this;
    }

    /** Sets the supplier of the node's pods, with the statuses that were last reported. */
    public KubeletServerBuilder pods(Supplier<List<Pod>> newPods) {
        pods = Objects.requireNonNull(newPods, "pods");
        return this;
    }

    /**
     * Sets the runtime of the node. The server uses its optional capabilities {@code ContainerLogs}, {@code
     * ContainerExec}, {@code ContainerAttach}, {@code PodPortForward} and {@code ContainerStatistics}.
     */
    public KubeletServerBuilder runtime(PodRuntime newRuntime) {
        runtime = Objects.requireNonNull(newRuntime, "runtime");
        return this;
    }

    /**
     * Sets how tokens and accesses are reviewed, such as {@code Fabric8ApiServer.accessReviews}.
     *
     * @hidden
     */
    @NotApi
    public KubeletServerBuilder reviews(AccessReviews newReviews) {
        reviews = Objects.requireNonNull(newReviews, "reviews");
        return this;
    }

    /**
     * Sets what the component tells about itself: its checks, metrics, configuration and flags. Default: nothing but its
     * name.
     *
     * @hidden
     */
    @NotApi
    public KubeletServerBuilder component(ComponentInfo newComponent) {
        component = Objects.requireNonNull(newComponent, "component");
        return this;
    }

    /**
     * Sets the supplier of the reason why the node is not healthy, for the check {@code node} of {@code /healthz}.
     * Default: always healthy.
     */
    public KubeletServerBuilder health(Supplier<Optional<String>> newHealth) {
        health = Objects.requireNonNull(newHealth, "health");
        return this;
    }

    /**
     * Sets the supplier of {@code /metrics}, in the text format of Prometheus, instead of that of {@link #component}.
     * Default: that; without any, the answer is 404.
     */
    public KubeletServerBuilder metrics(Supplier<String> newMetrics) {
        metrics = Optional.of(Objects.requireNonNull(newMetrics, "metrics"));
        return this;
    }

    /**
     * Sets the supplier of {@code /debug/objects}, such as {@code Podcache::entries}, instead of that of {@link
     * #component}. Default: none.
     */
    public KubeletServerBuilder objects(Supplier<List<ObjectEntry>> newObjects) {
        objects = Optional.of(Objects.requireNonNull(newObjects, "objects"));
        return this;
    }

    /**
     * Sets the supplier of {@code /metrics/probes}. Default: there are no probes.
     *
     * @hidden
     */
    @NotApi
    public KubeletServerBuilder probes(Supplier<List<ProbeSeries>> newProbes) {
        probes = Objects.requireNonNull(newProbes, "probes");
        return this;
    }

    /** Sets what the page at {@code /ui} shows. Default: there is no page. */
    public KubeletServerBuilder page(NodeView view) {
        page = Optional.of(view);
        return this;
    }

    /**
     * Returns a server that has not started. It must be closed.
     *
     * @throws IllegalStateException if a required option is missing
     * @hidden
     */
    @NotApi
    public KubeletServer build() {
        return new KubeletServer(this);
    }

    AccessReviews reviews() {
        return required(reviews, "reviews");
    }

    Endpoints.Sources sources() {
        return new Endpoints.Sources(
                node,
                shown(),
                required(pods, "pods"),
                health,
                required(runtime, "runtime"),
                probes,
                page.map(view -> NodePage.of(view, timekeeper)));
    }

    private ComponentInfo shown() {
        ComponentInfo info = metrics.map(component::withMetrics).orElse(component);
        return objects.map(entries -> info.withObjects(node, entries)).orElse(info);
    }

    /** Returns the names of a self-signed certificate. */
    List<String> names() {
        List<String> names = new ArrayList<>(List.of(node));
        if (!InetAddresses.forString(address).isAnyLocalAddress()) {
            names.add(address);
        }
        return names;
    }

    private static <T> T required(@Nullable T option, String name) {
        if (option == null) {
            throw new IllegalStateException("call " + name + "(...) before build()");
        }
        return option;
    }
}
