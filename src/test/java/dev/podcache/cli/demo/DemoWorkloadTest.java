package dev.podcache.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.Reference;
import dev.podcache.object.Usage;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DemoWorkloadTest {

    private final List<HasMetadata> workload = DemoCluster.load("demo-workload.yaml");
    private final List<HasMetadata> mailer = DemoCluster.load("demo-mailer.yaml");

    @Test
    void workload_pods_areADozenInThreeNamespacesOnOurNode() {
        List<Pod> pods = pods(workload);

        assertThat(pods).hasSize(12).allMatch(pod -> pod.getSpec().getNodeName().equals(DemoCluster.NODE));
        assertThat(pods)
                .extracting(pod -> pod.getMetadata().getNamespace())
                .containsOnly("shop", "billing", "monitoring");
    }

    @Test
    void workload_references_useEveryWay() {
        Set<Usage> usages = pods(workload).stream()
                .flatMap(pod ->
                        Stream.concat(PodReferences.secrets(pod).stream(), PodReferences.configMaps(pod).stream()))
                .map(Reference::usage)
                .collect(Collectors.toSet());

        assertThat(usages).isEqualTo(EnumSet.allOf(Usage.class));
    }

    @Test
    void workload_everythingReferredTo_exists() {
        Stream<HasMetadata> all = Stream.concat(workload.stream(), mailer.stream());
        Set<String> existing =
                all.map(object -> object.getKind() + " " + key(object)).collect(Collectors.toSet());

        for (Pod pod : pods(Stream.concat(workload.stream(), mailer.stream()).toList())) {
            PodReferences.secrets(pod).forEach(needs -> assertThat(existing).contains("Secret " + needs.key()));
            PodReferences.configMaps(pod).forEach(needs -> assertThat(existing).contains("ConfigMap " + needs.key()));
        }
    }

    @Test
    void workload_catalogSearch_isNeededByTheDepartingPodAlone() {
        List<String> users = pods(workload).stream()
                .filter(pod -> PodReferences.secrets(pod).stream()
                        .anyMatch(needs -> needs.key().equals(ObjectKey.of("shop", "catalog-search"))))
                .map(pod -> pod.getMetadata().getName())
                .toList();

        assertThat(users).containsExactly("catalog-0");
    }

    private static List<Pod> pods(List<HasMetadata> objects) {
        return objects.stream()
                .filter(Pod.class::isInstance)
                .map(Pod.class::cast)
                .toList();
    }

    private static String key(HasMetadata object) {
        return object.getMetadata().getNamespace() + "/" + object.getMetadata().getName();
    }
}
