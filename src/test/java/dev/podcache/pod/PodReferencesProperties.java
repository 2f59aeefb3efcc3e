package dev.podcache.pod;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Reference;
import dev.podcache.pod.ReferencePlace.Placed;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class PodReferencesProperties {

    @Property
    void references_namesAtRandomPlaces_areExactlyThoseNames(@ForAll("names") List<Placed> names) {
        Pod pod = ReferencePlace.pod(names);

        assertThat(PodReferences.secrets(pod)).isEqualTo(ReferencePlace.references(names, ObjectKind.SECRET));
        assertThat(PodReferences.configMaps(pod)).isEqualTo(ReferencePlace.references(names, ObjectKind.CONFIG_MAP));
    }

    @Property
    void keys_areThoseOfTheReferences_eachOnceInTheirOrder(@ForAll("names") List<Placed> names) {
        Pod pod = ReferencePlace.pod(names);

        assertThat(PodReferences.secretKeys(pod)).containsExactlyElementsOf(keys(PodReferences.secrets(pod)));
        assertThat(PodReferences.configMapKeys(pod)).containsExactlyElementsOf(keys(PodReferences.configMaps(pod)));
    }

    @Property
    void paths_namesAtRandomPlaces_areOfTheReferences(@ForAll("names") List<Placed> names) {
        Pod pod = ReferencePlace.pod(names);

        assertThat(withPaths(pod, ObjectKind.SECRET)).isEqualTo(PodReferences.secrets(pod));
        assertThat(withPaths(pod, ObjectKind.CONFIG_MAP)).isEqualTo(PodReferences.configMaps(pod));
    }

    private static Set<Reference> withPaths(Pod pod, ObjectKind<?> kind) {
        return ReferencePaths.of(pod.getSpec(), ReferencePlace.NAMESPACE, "spec").stream()
                .filter(path -> path.kind().equals(kind))
                .map(ReferencePath::reference)
                .collect(Collectors.toSet());
    }

    private static List<ObjectKey> keys(Set<Reference> references) {
        return references.stream().map(Reference::key).distinct().toList();
    }

    @Provide
    Arbitrary<List<Placed>> names() {
        // few names, so that the same one is often found in several places
        Arbitrary<String> name = Arbitraries.of("a", "b", "c", "d", "").injectNull(0.1);
        return Combinators.combine(Arbitraries.of(ReferencePlace.class), name)
                .as(Placed::new)
                .list()
                .ofMaxSize(20);
    }
}
