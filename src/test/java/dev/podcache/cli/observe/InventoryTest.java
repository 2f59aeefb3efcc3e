package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.demo.DemoCluster;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import org.junit.jupiter.api.Test;

class InventoryTest {

    @Test
    void of_workloadOfTheDemo_countsObjectsOnceAndReferencesByPod() {
        List<Pod> pods = DemoCluster.load("demo-workload.yaml").stream()
                .filter(Pod.class::isInstance)
                .map(Pod.class::cast)
                .toList();

        Inventory inventory = Inventory.of(pods);

        assertThat(inventory).isEqualTo(new Inventory(12, 11, 10, 53));
        assertThat(inventory.objects()).isEqualTo(21);
    }
}
