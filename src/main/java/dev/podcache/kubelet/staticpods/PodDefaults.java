package dev.podcache.kubelet.staticpods;

import dev.podcache.kubelet.host.Quantities;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EmptyDirVolumeSource;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.Lifecycle;
import io.fabric8.kubernetes.api.model.LifecycleHandler;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sets what the API server sets in a pod that it creates, as far as a node uses it. Follows {@code
 * pkg/apis/core/v1/defaults.go}. Modifies its arguments.
 */
final class PodDefaults {

    private static final long GRACE_PERIOD_SECONDS = 30;
    private static final int FILE_MODE = 0644;

    private PodDefaults() {}

    static void apply(PodSpec spec) {
        orElse(spec::getRestartPolicy, spec::setRestartPolicy, "Always");
        orElse(spec::getTerminationGracePeriodSeconds, spec::setTerminationGracePeriodSeconds, GRACE_PERIOD_SECONDS);
        orElse(spec::getDnsPolicy, spec::setDnsPolicy, "ClusterFirst");
        orElse(spec::getSchedulerName, spec::setSchedulerName, "default-scheduler");
        orElse(spec::getSecurityContext, spec::setSecurityContext, new PodSecurityContext());
        orElse(spec::getEnableServiceLinks, spec::setEnableServiceLinks, true);
        spec.getVolumes().forEach(PodDefaults::volume);
        boolean hostNetwork = Boolean.TRUE.equals(spec.getHostNetwork());
        Stream.concat(spec.getInitContainers().stream(), spec.getContainers().stream())
                .forEach(container -> container(container, hostNetwork));
        podResources(spec);
    }

    private static void container(Container container, boolean hostNetwork) {
        orElse(container::getImagePullPolicy, container::setImagePullPolicy, pullPolicy(container.getImage()));
        orElse(container::getTerminationMessagePath, container::setTerminationMessagePath, "/dev/termination-log");
        orElse(container::getTerminationMessagePolicy, container::setTerminationMessagePolicy, "File");
        for (ContainerPort port : container.getPorts()) {
            orElse(port::getProtocol, port::setProtocol, "TCP");
            if (hostNetwork) {
                orElse(port::getHostPort, port::setHostPort, port.getContainerPort());
            }
        }
        resources(container.getResources());
        probe(container.getStartupProbe());
        probe(container.getLivenessProbe());
        probe(container.getReadinessProbe());
        Lifecycle lifecycle = container.getLifecycle();
        if (lifecycle != null) {
            handler(lifecycle.getPostStart());
            handler(lifecycle.getPreStop());
        }
    }

    private static String pullPolicy(@Nullable String image) {
        String name = image == null ? "" : image.substring(image.lastIndexOf('/') + 1);
        boolean newest = name.endsWith(":latest") || (!name.contains(":") && !name.contains("@"));
        return newest ? "Always" : "IfNotPresent";
    }

    /** A request that is not set is the limit. */
    private static void resources(@Nullable ResourceRequirements resources) {
        if (resources != null && resources.getLimits() != null) {
            Map<String, Quantity> requests = new LinkedHashMap<>(resources.getLimits());
            if (resources.getRequests() != null) {
                requests.putAll(resources.getRequests());
            }
            resources.setRequests(requests);
        }
    }

    /**
     * If the pod has limits, a request of the pod that is not set is what its containers request, or else the limit. For
     * huge pages it is always the limit. Follows {@code defaultPodRequests}.
     */
    private static void podResources(PodSpec spec) {
        @Nullable ResourceRequirements resources = spec.getResources();
        if (resources == null
                || resources.getLimits() == null
                || resources.getLimits().isEmpty()) {
            return;
        }
        Pod pod = new PodBuilder().withSpec(spec).build();
        Map<String, Quantity> requests = new LinkedHashMap<>(resources.getLimits());
        for (String resource : List.of("cpu", "memory")) {
            PodResources.requestOfContainers(pod, resource)
                    .ifPresent(amount -> requests.put(resource, Quantities.of(resource, amount)));
        }
        if (resources.getRequests() != null) {
            requests.putAll(resources.getRequests());
        }
        resources.setRequests(requests);
    }

    private static void probe(@Nullable Probe probe) {
        if (probe != null) {
            orElse(probe::getTimeoutSeconds, probe::setTimeoutSeconds, 1);
            orElse(probe::getPeriodSeconds, probe::setPeriodSeconds, 10);
            orElse(probe::getSuccessThreshold, probe::setSuccessThreshold, 1);
            orElse(probe::getFailureThreshold, probe::setFailureThreshold, 3);
            httpGet(probe.getHttpGet());
        }
    }

    private static void handler(@Nullable LifecycleHandler handler) {
        if (handler != null) {
            httpGet(handler.getHttpGet());
        }
    }

    private static void httpGet(@Nullable HTTPGetAction get) {
        if (get != null) {
            orElse(get::getPath, get::setPath, "/");
            orElse(get::getScheme, get::setScheme, "HTTP");
        }
    }

    private static void volume(Volume volume) {
        if (volume.getHostPath() != null) {
            orElse(volume.getHostPath()::getType, volume.getHostPath()::setType, "");
        } else if (volume.getDownwardAPI() != null) {
            orElse(volume.getDownwardAPI()::getDefaultMode, volume.getDownwardAPI()::setDefaultMode, FILE_MODE);
        } else if (volume.getProjected() != null) {
            orElse(volume.getProjected()::getDefaultMode, volume.getProjected()::setDefaultMode, FILE_MODE);
        } else if (volume.equals(named(volume.getName()))) {
            volume.setEmptyDir(new EmptyDirVolumeSource());
        }
    }

    /** Returns a volume without a source. */
    private static Volume named(String name) {
        Volume volume = new Volume();
        volume.setName(name);
        return volume;
    }

    /** An empty text is unset, as in Go. */
    private static <T> void orElse(Supplier<@Nullable T> getter, Consumer<T> setter, T byDefault) {
        @Nullable T value = getter.get();
        if (value == null || value.equals("")) {
            setter.accept(byDefault);
        }
    }
}
