package example;

import dev.podcache.Podcache;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
class PodcacheConfiguration {

    @Bean // closed with the context, before the client
    Podcache podcache(KubernetesClient client) {
        return Podcache.builder(client).firstSyncTimeout(Duration.ofSeconds(10)).build();
    }
}
