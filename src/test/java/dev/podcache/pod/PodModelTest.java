package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Compares our table of places with the model classes of the fabric8 on the class path, so that a new release that can
 * name a Secret or a ConfigMap somewhere else is noticed here and not by a pod that never starts.
 */
class PodModelTest {

    private static final String MODEL = "io.fabric8.kubernetes.api.model";

    /** Fields that look as if they named a Secret or a ConfigMap, and why they do not count. */
    private static final Map<String, String> EXCLUDED = Map.of(
            "spec.volumes[].cephfs.secretFile", "a path on the node",
            "spec.volumes[].projected.sources[].serviceAccountToken", "asked of the TokenRequest API, not a Secret",
            "spec.volumes[].projected.sources[].clusterTrustBundle.name", "names a ClusterTrustBundle",
            "spec.volumes[].projected.sources[].podCertificate", "asked of the PodCertificateRequest API, not a Secret",
            "spec.volumes[].projected.sources[].downwardAPI", "fields of the pod itself");

    @Test
    void model_everyFieldThatMayNameASecretOrConfigMap_isCoveredOrExcludedWithAReason() {
        Set<String> known = new TreeSet<>(EXCLUDED.keySet());
        Arrays.stream(ReferencePlace.values()).forEach(place -> known.add(place.path));

        assertThat(suspects(PodSpec.class, "spec", new HashSet<>())).isEqualTo(known);
    }

    private static Set<String> suspects(Class<?> model, String path, Set<Class<?>> above) {
        Set<String> suspects = new TreeSet<>();
        if (!model.getName().startsWith(MODEL) || !above.add(model)) {
            return suspects;
        }
        for (Field field : model.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                suspects.addAll(suspectsOf(field, path, above));
            }
        }
        above.remove(model);
        return suspects;
    }

    private static Set<String> suspectsOf(Field field, String path, Set<Class<?>> above) {
        Class<?> type = elementType(field.getGenericType());
        String fieldPath = path + "." + field.getName() + (type == field.getType() ? "" : "[]");
        Set<String> suspects = suspects(type, fieldPath, above);
        if (isSuspect(field.getName(), type)) {
            if (hasName(type)) {
                suspects.add(fieldPath + ".name");
            } else if (suspects.isEmpty()) {
                suspects.add(fieldPath);
            }
        }
        return suspects;
    }

    private static boolean isSuspect(String field, Class<?> type) {
        String words = (field + " " + type.getSimpleName()).toLowerCase(Locale.ROOT);
        return words.contains("secret")
                || words.contains("configmap")
                || type == LocalObjectReference.class
                || type.getSimpleName().endsWith("Projection");
    }

    private static boolean hasName(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields())
                .anyMatch(field -> field.getName().equals("name"));
    }

    /** The class itself, or the last type argument of a list or map. */
    private static Class<?> elementType(Type type) {
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            return elementType(arguments[arguments.length - 1]);
        }
        return type instanceof Class<?> plain ? plain : Object.class;
    }
}
