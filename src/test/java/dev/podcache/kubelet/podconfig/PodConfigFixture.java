package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableList;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.WatchedCaches;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Managers that watch an in-memory server, and the objects that the tests of this package create there. */
final class PodConfigFixture implements AutoCloseable {

    static final String NS = "test1";
    static final PodPlacement PLACEMENT = new PodPlacement(
            ImmutableList.of("1.2.3.4", "fd00::6"),
            ImmutableList.of("127.0.0.1", "::1"),
            Map.of("cpu", new Quantity("4"), "memory", new Quantity("8Gi")));

    static final LocalVolumes NO_VOLUMES = (pod, volume) -> {
        throw new IOException("no volumes here");
    };

    final ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
    final FakeApiServer server = new FakeApiServer(timekeeper);
    final ServiceLister services;
    final Manager<Secret> secrets;
    final Manager<ConfigMap> configMaps;

    private final WatchedCaches caches = WatchedCaches.of(server);
    final FakeTrustBundles trustBundles = new FakeTrustBundles();
    final List<String> changedBundles = new ArrayList<>(); // UIDs of pods
    boolean failsWhenFound;
    final TrustBundles bundles = new TrustBundles(
            trustBundles, new Recovery(timekeeper, () -> 0.0), timekeeper, new TrustBundles.BundleEvents() {
                @Override
                public void found(Manager<GenericKubernetesResource> named) {
                    if (failsWhenFound) {
                        throw new IllegalStateException("found fails for the test");
                    }
                }

                @Override
                public void changed(String podUid) {
                    changedBundles.add(podUid);
                }
            });

    PodConfigFixture(Service... existing) {
        for (Service service : existing) {
            server.cluster().create(service);
        }
        services = ServiceLister.following(
                server.listerWatcher(ObjectKind.SERVICE, "", ""), new Recovery(timekeeper, () -> 0.0));
        secrets = caches.secrets();
        configMaps = caches.configMaps();
    }

    ContainerEnvironment environments() {
        return new ContainerEnvironment(secrets, configMaps, services, NO_VOLUMES);
    }

    VolumePayloads payloads() {
        return new VolumePayloads(
                secrets, configMaps, new ServiceAccountTokens(new FakeTokenRequests(), timekeeper, () -> 0.0), bundles);
    }

    /** Registers the pod and returns the environment of its first container. */
    Map<String, String> environment(Pod pod) {
        register(pod);
        return environments()
                .of(pod, pod.getSpec().getContainers().get(0), PLACEMENT)
                .variables();
    }

    /** Registers a pod with this volume and returns the volume's files. */
    Map<String, VolumeFile> payload(Volume volume) {
        Pod pod = register(new PodBuilder(pod(NS, new Container()))
                .editSpec()
                .withVolumes(volume)
                .endSpec()
                .build());
        return payloads().of(pod, volume, PLACEMENT);
    }

    Pod register(Pod pod) {
        secrets.registerPod(pod);
        configMaps.registerPod(pod);
        bundles.register(pod);
        return pod;
    }

    static Pod pod(String namespace, Container container) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("dapi-test-pod-name")
                .withUid("uid-1")
                .endMetadata()
                .withNewSpec()
                .withNodeName("node-name")
                .withServiceAccountName("special")
                .withEnableServiceLinks(false)
                .withContainers(container)
                .endSpec()
                .build();
    }

    static Secret secret(String name, Map<String, String> text) {
        SecretBuilder secret = new SecretBuilder()
                .withNewMetadata()
                .withNamespace(NS)
                .withName(name)
                .endMetadata();
        text.forEach((key, value) -> secret.addToData(key, base64(value)));
        return secret.build();
    }

    static ConfigMap configMap(String name, Map<String, String> data) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace(NS)
                .withName(name)
                .endMetadata()
                .withData(data)
                .build();
    }

    static Service service(String namespace, String name, @Nullable String clusterIp, int port) {
        return new ServiceBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withClusterIP(clusterIp)
                .addNewPort()
                .withProtocol("TCP")
                .withPort(port)
                .endPort()
                .endSpec()
                .build();
    }

    static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        bundles.close();
        trustBundles.close();
        services.close();
        caches.close();
        server.close();
    }
}
