package dev.podcache.controlplane.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import java.util.ArrayList;
import java.util.List;

/** Pods for tests of the controllers, in the namespace shop. */
public final class TestPods {

    private TestPods() {}

    /** Returns a Ready pod on a node; "" for no node. */
    public static Pod on(String node, String name, Toleration... tolerations) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid("uid-" + name)
                .endMetadata()
                .withNewSpec()
                .withNodeName(node.isEmpty() ? null : node)
                .withTolerations(tolerations)
                .endSpec()
                .withNewStatus()
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .endCondition()
                .endStatus()
                .build();
    }

    /** Returns a toleration of a key with the effect NoExecute. */
    public static Toleration tolerates(String key, Long seconds) {
        return new TolerationBuilder()
                .withKey(key)
                .withOperator("Exists")
                .withEffect("NoExecute")
                .withTolerationSeconds(seconds)
                .build();
    }

    /** Returns the pod with a condition added, or in the place of that of its type. */
    public static Pod withCondition(Pod pod, PodCondition changed) {
        List<PodCondition> merged = new ArrayList<>(pod.getStatus().getConditions());
        merged.removeIf(condition -> condition.getType().equals(changed.getType()));
        merged.add(changed);
        return new PodBuilder(pod)
                .editStatus()
                .withConditions(merged)
                .endStatus()
                .build();
    }

    /** Returns the status of a condition; "" if there is none. */
    public static String status(Pod pod, String type) {
        return pod.getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals(type))
                .map(PodCondition::getStatus)
                .findFirst()
                .orElse("");
    }
}
