package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.podcache.pod.ReferencePlace.Placed;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReferencePathsTest {

    @ParameterizedTest
    @EnumSource
    void of_eachPlace_isItsPathInTheSpec(ReferencePlace place) {
        Placed placed = new Placed(place, "db");

        String path = place.path.replace("[]", "[0]").replaceFirst("\\.[^.]*$", "");
        assertThat(paths(ReferencePlace.pod(placed)))
                .containsExactly(
                        new ReferencePath(place.kind, placed.reference(), path, place == ReferencePlace.PULL_SECRET));
    }

    @Test
    void of_sameObjectTwice_hasTwoPlacesWithTheirOwnIndexes() {
        PodSpec spec = Serialization.unmarshal("""
                containers:
                - name: main
                  env:
                  - {name: A, value: plain}
                  - {name: B, valueFrom: {secretKeyRef: {name: db, key: k}}}
                  - {name: C, valueFrom: {secretKeyRef: {name: db, key: l, optional: true}}}
                """, PodSpec.class);

        assertThat(ReferencePaths.of(spec, "shop", "spec.template.spec"))
                .extracting(ReferencePath::path, ReferencePath::optional)
                .containsExactly(
                        tuple("spec.template.spec.containers[0].env[1].valueFrom.secretKeyRef", false),
                        tuple("spec.template.spec.containers[0].env[2].valueFrom.secretKeyRef", true));
    }

    @Test
    void of_optionalVolumeAndEnvironment_areOptional() {
        PodSpec spec = Serialization.unmarshal("""
                containers:
                - name: main
                  envFrom: [{configMapRef: {name: settings, optional: true}}]
                volumes:
                - {name: v, secret: {secretName: db, optional: true}}
                - {name: w, projected: {sources: [{configMap: {name: more, optional: true}}]}}
                - {name: x, secret: {secretName: cert, optional: false}}
                """, PodSpec.class);

        assertThat(ReferencePaths.of(spec, "shop", "spec"))
                .extracting(path -> path.reference().key().name() + " " + path.optional())
                .containsExactlyInAnyOrder("settings true", "db true", "more true", "cert false");
    }

    @Test
    void of_spec_isLeftAsItWas() {
        PodSpec spec = new PodSpecBuilder()
                .addNewImagePullSecret("registry")
                .addNewContainer()
                .withName("main")
                .endContainer()
                .build();
        PodSpec before = new PodSpecBuilder(spec).build();

        ReferencePaths.of(spec, "shop", "spec");

        assertThat(spec).isEqualTo(before);
    }

    private static List<ReferencePath> paths(Pod pod) {
        return ReferencePaths.of(pod.getSpec(), pod.getMetadata().getNamespace(), "spec");
    }
}
