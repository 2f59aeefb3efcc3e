package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodIsolation;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Refuses to start containers that ask, or whose pod asks, for isolation or devices that their runtime does not give them.
 * Thread-safe; does not block.
 *
 * <p>Follows {@code verifyRunAsNonRoot} of the kubelet's {@code kuberuntime/security_context.go} and {@code
 * resolveRecursiveReadOnly} of its {@code kubelet_pods.go}.
 */
record IsolationChecks(PodIsolation isolation) {

    static IsolationChecks of(PodRuntime runtime) {
        return new IsolationChecks(PodIsolation.of(runtime));
    }

    /** Returns why a container must not be started now; null if it may. */
    @Nullable
    String refusal(Pod pod, Container container) {
        String runtimeClass = pod.getSpec().getRuntimeClassName();
        if (runtimeClass != null && !runtimeClass.isEmpty() && !isolation.runtimeClass(runtimeClass)) {
            return "pod's runtimeClassName " + Quoted.value(runtimeClass) + " is not supported by the runtime";
        }
        if (!pod.getSpec().getResourceClaims().isEmpty() && !isolation.resourceClaims()) {
            return "pod's resourceClaims are not supported by the runtime";
        }
        for (VolumeMount mount : container.getVolumeMounts()) {
            String refusal = refusal(mount);
            if (refusal != null) {
                return refusal;
            }
        }
        String signal = container.getLifecycle() == null
                ? null
                : container.getLifecycle().getStopSignal();
        if (signal != null && !signal.isEmpty() && !isolation.stopSignal(signal)) {
            return "container's stopSignal " + Quoted.value(signal) + " is not supported by the runtime";
        }
        return rootRefusal(pod, container);
    }

    private @Nullable String refusal(VolumeMount mount) {
        String mode = mount.getRecursiveReadOnly();
        if (mode == null || mode.equals("Disabled")) {
            return null;
        }
        String what = "volume \"" + mount.getName() + "\" requested recursive read-only mode, but it is not ";
        if (!Boolean.TRUE.equals(mount.getReadOnly())) {
            return what + "read-only";
        }
        String propagation = mount.getMountPropagation();
        if (propagation != null && !propagation.equals("None")) {
            return what + "compatible with propagation \"" + propagation + "\"";
        }
        if (mode.equals("IfPossible")) {
            return null;
        }
        if (!mode.equals("Enabled")) {
            return "unknown recursive read-only mode \"" + mode + "\"";
        }
        return isolation.recursiveReadOnly() ? null : what + "supported by the runtime";
    }

    private @Nullable String rootRefusal(Pod pod, Container container) {
        PodSecurityContext ofPod = pod.getSpec().getSecurityContext();
        SecurityContext own = container.getSecurityContext();
        Boolean nonRoot = ofPod == null ? null : ofPod.getRunAsNonRoot();
        Long wanted = ofPod == null ? null : ofPod.getRunAsUser();
        if (own != null) {
            nonRoot = own.getRunAsNonRoot() == null ? nonRoot : own.getRunAsNonRoot();
            wanted = own.getRunAsUser() == null ? wanted : own.getRunAsUser();
        }
        if (!Boolean.TRUE.equals(nonRoot)) {
            return null;
        }
        String which = " (pod: \"" + pod.getMetadata().getName() + "_"
                + pod.getMetadata().getNamespace() + "(" + pod.getMetadata().getUid() + ")\", container: "
                + container.getName() + ")";
        if (wanted != null && wanted == 0) {
            return "container's runAsUser breaks non-root policy" + which;
        }
        OptionalLong user = isolation.user(pod, container);
        return user.isPresent() && user.getAsLong() == 0
                ? "container has runAsNonRoot and image will run as root" + which
                : null;
    }
}
