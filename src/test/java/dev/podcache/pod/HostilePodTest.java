package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.Reference;
import dev.podcache.pod.ReferencePlace.Placed;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import java.beans.IntrospectionException;
import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods with any one part null, found by reflection over the model, and with names that nobody would give. */
class HostilePodTest {

    private static final String MODEL = "io.fabric8.kubernetes.api.model";

    private int parts;

    @Test
    void references_anyOnePartOfTheSpecNull_areThoseOfTheRest() throws Exception {
        Pod pod = full();
        Set<Reference> all = PodReferences.secrets(pod);

        forEachPart(pod.getSpec(), () -> {
            assertThat(all).containsAll(PodReferences.secrets(pod));
            PodReferences.configMaps(pod);
            PodReferences.registrableKey(pod);
        });

        assertThat(parts).isGreaterThan(100);
        assertThat(PodReferences.secrets(pod)).as("all parts are back").isEqualTo(all);
    }

    @Test
    void references_anyOnePartOfTheMetadataNull_areTheSameOrRefused() throws Exception {
        Pod pod = full();

        forEachPart(pod.getMetadata(), () -> {
            boolean complete = pod.getMetadata().getName() != null
                    && pod.getMetadata().getNamespace() != null
                    && pod.getMetadata().getUid() != null;
            if (complete) {
                PodReferences.registrableKey(pod);
            } else {
                assertThatIllegalArgumentException().isThrownBy(() -> PodReferences.registrableKey(pod));
            }
        });

        assertThat(parts).isGreaterThan(5);
    }

    @Test
    void references_nothingAtAll_isRefusedWithTheReason() {
        assertThatThrownBy(() -> PodReferences.secrets(new Pod())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PodReferences.registrableKey(
                        new PodBuilder(full()).withSpec(null).build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no spec");
    }

    @ParameterizedTest
    @ValueSource(strings = {"..", "../../nodes/n", "\0", "\r\nHost: x", "a b", "%2e%2e", "é", "\ud800"})
    void references_namesThatNobodyWouldGive_areTakenAsTheyAre(String name) {
        Pod pod = ReferencePlace.pod(new Placed(ReferencePlace.SECRET_VOLUME, "plain"));
        pod.getSpec().getVolumes().get(0).getSecret().setSecretName(name);

        assertThat(PodReferences.secrets(pod))
                .singleElement()
                .satisfies(reference -> assertThat(reference.key().name()).isEqualTo(name));
    }

    @Test
    void references_tenThousandOfThem_areFound() {
        Pod pod = ReferencePlace.pod(new Placed(ReferencePlace.SECRET_VOLUME, "plain"));
        for (int i = 0; i < 10_000; i++) {
            pod.getSpec()
                    .getVolumes()
                    .add(new VolumeBuilder()
                            .withNewSecret()
                            .withSecretName("s" + i)
                            .endSecret()
                            .build());
        }

        assertThat(PodReferences.secrets(pod)).hasSize(10_001);
    }

    private static Pod full() {
        return ReferencePlace.pod(Arrays.stream(ReferencePlace.values())
                .map(place -> new Placed(place, place.path.replace("[]", "")))
                .toList());
    }

    private interface Check {
        void run();
    }

    /** Runs the check with each property below {@code model} null in turn, and with a null in each list. */
    private void forEachPart(Object model, Check check) throws Exception {
        for (PropertyDescriptor property : properties(model)) {
            Object value = property.getReadMethod().invoke(model);
            if (value == null) {
                continue;
            }
            set(model, property, null);
            check.run();
            parts++;
            if (value instanceof List<?> list) {
                List<@Nullable Object> withNull = new ArrayList<>(list);
                withNull.add(0, null);
                set(model, property, withNull);
                check.run();
                for (Object element : list) {
                    set(model, property, list);
                    below(element, check);
                }
            }
            set(model, property, value);
            below(value, check);
        }
    }

    private void below(Object value, Check check) throws Exception {
        if (value.getClass().getName().startsWith(MODEL)) {
            forEachPart(value, check);
        }
    }

    private static List<PropertyDescriptor> properties(Object model) throws IntrospectionException {
        return Arrays.stream(Introspector.getBeanInfo(model.getClass()).getPropertyDescriptors())
                .filter(property -> property.getReadMethod() != null
                        && property.getWriteMethod() != null
                        && !property.getPropertyType().isPrimitive())
                .toList();
    }

    private static void set(Object model, PropertyDescriptor property, @Nullable Object value)
            throws IllegalAccessException, InvocationTargetException {
        property.getWriteMethod().invoke(model, value);
    }
}
