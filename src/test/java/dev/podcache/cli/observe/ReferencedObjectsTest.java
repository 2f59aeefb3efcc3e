package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.demo.DemoCluster;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReferencedObjectsTest {

    @Test
    void of_workloadOfTheDemo_countsObjectsOnceAndReferencesByPod() {
        List<Pod> pods = DemoCluster.load("demo-workload.yaml").stream()
                .filter(Pod.class::isInstance)
                .map(Pod.class::cast)
                .toList();

        ReferencedObjects objects = ReferencedObjects.of(pods);

        assertThat(objects.pods()).isEqualTo(12);
        assertThat(objects.references()).isEqualTo(53);
        assertThat(objects.objects()).hasSize(21);
        assertThat(objects.count(ObjectKind.SECRET)).isEqualTo(11);
    }
}
