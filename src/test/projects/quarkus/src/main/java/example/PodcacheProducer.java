package example;

import dev.podcache.Podcache;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Duration;

@Dependent
class PodcacheProducer {

    @Produces
    @Singleton // not ApplicationScoped, which needs a proxy, and the class is final
    Podcache podcache(KubernetesClient client) {
        return Podcache.builder(client).firstSyncTimeout(Duration.ofSeconds(10)).build();
    }

    void close(@Disposes Podcache podcache) {
        podcache.close();
    }
}
