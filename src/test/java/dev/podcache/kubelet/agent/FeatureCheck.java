package dev.podcache.kubelet.agent;

import dev.podcache.object.ModelJson;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Whether a node shows what it should for a pod that uses one feature of Kubernetes.
 *
 * @param id as in the list of features, such as {@code K1}
 * @param what the feature, for people
 * @param field where the server keeps what the pod asks for, as a JSON pointer such as {@code /spec/hostUsers}; empty if every
 *     server does
 * @param pod asks for it
 * @param seen returns what is to be seen, for people; null while it is not
 */
record FeatureCheck(String id, String what, String field, Pod pod, FeatureSight seen) {

    private static final int UNPROCESSABLE = 422;
    private static final int NOT_FOUND = 404;
    private static final int LONGEST = 500;

    /** A feature without a pod. */
    record FeatureDraft(String id, String what, String field) {

        PosedCheck on(Pod pod) {
            return new PosedCheck(this, pod);
        }
    }

    /** A feature and a pod that uses it. */
    record PosedCheck(FeatureDraft draft, Pod pod) {

        FeatureCheck shows(FeatureSight seen) {
            return new FeatureCheck(draft.id, draft.what, draft.field, pod, seen);
        }
    }

    /** What is to be seen of a pod. */
    @FunctionalInterface
    interface FeatureSight {

        /**
         * Returns what is seen, or null if that is not yet what is expected.
         *
         * @throws KubernetesClientException with code 404 or 422 if the server does not have the feature
         */
        @Nullable
        String of(Pod pod) throws Exception;
    }

    /** How a check ends. */
    record FeatureResult(FeatureCheck check, boolean failed, String text) {

        /** The line of the result, such as {@code K1 ok: restart rules: restarted once}. */
        @Override
        public String toString() {
            return check.id + " " + text;
        }
    }

    /** Creates the pod. Returns why it is not to be looked at, or null if it is. */
    @Nullable
    FeatureResult create(KubernetesClient admin) {
        try {
            Pod created = admin.resource(pod).create();
            boolean kept = field.isEmpty() || !ModelJson.tree(created).at(field).isMissingNode();
            return kept ? null : absent("the server dropped " + field);
        } catch (KubernetesClientException e) {
            return refused(e);
        }
    }

    /** Waits until what is expected is seen, at most for {@code longest}. */
    FeatureResult await(KubernetesClient admin, Duration longest) {
        try {
            String text = Awaitility.await()
                    .atMost(longest)
                    .until(() -> seen.of(Objects.requireNonNull(current(admin), "the pod is gone")), Objects::nonNull);
            return new FeatureResult(this, false, "ok: " + what + ": " + text);
        } catch (ConditionTimeoutException e) {
            Pod last = current(admin);
            return failed(last == null ? "the pod is gone" : "after " + longest.toSeconds() + " s: " + text(last));
        } catch (KubernetesClientException e) {
            return refused(e);
        } catch (RuntimeException e) {
            return failed(e.toString());
        }
    }

    private @Nullable Pod current(KubernetesClient admin) {
        return admin.resource(pod).get();
    }

    private FeatureResult refused(KubernetesClientException e) {
        return e.getCode() == UNPROCESSABLE || e.getCode() == NOT_FOUND
                ? absent(String.valueOf(e.getMessage()))
                : failed(e.toString());
    }

    private FeatureResult absent(String why) {
        return new FeatureResult(this, false, "not on this server: " + what + ": " + cut(why));
    }

    private FeatureResult failed(String why) {
        return new FeatureResult(this, true, "FAILED: " + what + ": " + cut(why));
    }

    private static String text(Pod pod) {
        return pod.getStatus() == null ? "no status" : ModelJson.text(pod.getStatus());
    }

    private static String cut(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "...";
    }
}
