package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import org.junit.jupiter.api.Test;

class ObjectRefTest {

    private static ObjectKind<GenericKubernetesResource> kind(String apiVersion, String plural) {
        return ObjectKind.of(apiVersion, "Route", plural, true);
    }

    @Test
    void compareTo_isZero_onlyForEqualReferences() {
        List<ObjectRef> all = List.of(
                ObjectRef.of(kind("a.example/v1", "routes"), "shop", "main"),
                ObjectRef.of(kind("b.example/v1", "routes"), "shop", "main"),
                ObjectRef.of(kind("b.example/v1", "routen"), "shop", "main"),
                ObjectRef.of(kind("b.example/v1", "routes"), "shop", "other"),
                ObjectRef.of(ObjectKind.SECRET, "shop", "main"));

        for (ObjectRef one : all) {
            for (ObjectRef other : all) {
                assertThat(one.compareTo(other) == 0)
                        .as("%s and %s", one, other)
                        .isEqualTo(one.equals(other));
            }
        }
    }
}
