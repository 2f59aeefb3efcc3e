package dev.podcache;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The Secrets of one namespace, of 1,500 random bytes each, which become 2,000 characters of base64. Thread-safe: several
 * threads may ask for Secrets.
 */
final class ManySecrets {

    private static final int PAYLOAD = 1_500;
    private static final int CREATORS = 8;

    private final String namespace;
    private final Random random = new Random(1);

    ManySecrets(String namespace) {
        this.namespace = namespace;
    }

    /** Creates those of {@code names}, several at a time. */
    void create(KubernetesClient admin, List<String> names) throws Exception {
        ExecutorService creators = Executors.newFixedThreadPool(CREATORS);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (String name : names) {
                Secret secret = secret(name);
                all.add(creators.submit(() -> admin.resource(secret).create()));
            }
            for (Future<?> each : all) {
                each.get();
            }
        } finally {
            creators.shutdown();
        }
    }

    /** A Secret with a payload that no other has. */
    Secret secret(String name) {
        byte[] payload = new byte[PAYLOAD];
        random.nextBytes(payload);
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .withData(Map.of("value", Base64.getEncoder().encodeToString(payload)))
                .build();
    }
}
