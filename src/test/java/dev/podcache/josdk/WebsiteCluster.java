package dev.podcache.josdk;

import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Patience;
import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Websites and Secrets on a real API server, spread evenly over namespaces. Website {@code i} names the Secrets {@code 2i}
 * and {@code 2i + 1}, and the first one of the next website in its namespace, so half of the referenced Secrets have two
 * owners. The other Secrets have none. Each Secret has 1,500 random bytes.
 */
final class WebsiteCluster implements AutoCloseable {

    /** The label of the referenced Secrets. */
    static final String LABEL = "operator.example.dev/used";

    private static final int PAYLOAD = 1_500;
    private static final int CREATORS = 8;

    private final KubernetesClient admin;
    private final String prefix;
    private final int websites;
    private final int namespaces;

    private WebsiteCluster(RealApiServer server, String prefix, int websites, int namespaces) {
        this.admin = server.client();
        this.prefix = prefix;
        this.websites = websites;
        this.namespaces = namespaces;
    }

    /**
     * Creates everything.
     *
     * @param websites a multiple of {@code namespaces}
     * @param secrets at least twice the websites
     */
    static WebsiteCluster create(RealApiServer server, String prefix, int websites, int namespaces, int secrets)
            throws Exception {
        WebsiteCluster cluster = new WebsiteCluster(server, prefix, websites, namespaces);
        cluster.admin
                .load(new ByteArrayInputStream(Website.DEFINITION.getBytes(StandardCharsets.UTF_8)))
                .resources()
                .forEach(definition -> definition.createOr(existing -> existing.update()));
        for (String namespace : cluster.namespaces()) {
            cluster.admin
                    .resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(namespace)
                            .endMetadata()
                            .build())
                    .create();
        }
        cluster.forEach(
                secrets,
                i -> cluster.admin
                        .resource(cluster.secret(cluster.secretKey(i), i < 2 * websites))
                        .create());
        Patience.await().ignoreExceptions().until(() -> {
            cluster.admin.resources(Website.class).inAnyNamespace().list();
            return true;
        });
        cluster.forEach(
                websites, i -> cluster.admin.resource(cluster.website(i)).create());
        return cluster;
    }

    /** Runs an action for 0 to {@code count - 1}, several at a time. */
    private void forEach(int count, java.util.function.IntConsumer action) throws Exception {
        ExecutorService creators = Executors.newFixedThreadPool(CREATORS);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int each = i;
                all.add(creators.submit(() -> action.accept(each)));
            }
            for (Future<?> each : all) {
                each.get();
            }
        } finally {
            creators.shutdown();
        }
    }

    List<String> namespaces() {
        return IntStream.range(0, namespaces).mapToObj(i -> prefix + "-" + i).toList();
    }

    /** Returns the Secrets that websites name. */
    List<ObjectKey> referenced() {
        return IntStream.range(0, 2 * websites).mapToObj(this::secretKey).toList();
    }

    /** Returns the websites that name a Secret. */
    Set<ObjectKey> ownersOf(ObjectKey secret) {
        return IntStream.range(0, websites)
                .filter(i ->
                        namespace(i).equals(secret.namespace()) && secretsOf(i).contains(secret.name()))
                .mapToObj(i -> ObjectKey.of(namespace(i), "website-" + i))
                .collect(Collectors.toSet());
    }

    private List<String> secretsOf(int website) {
        int next = (website + namespaces) % websites;
        return List.of("s" + 2 * website, "s" + (2 * website + 1), "s" + 2 * next);
    }

    private String namespace(int website) {
        return prefix + "-" + website % namespaces;
    }

    private ObjectKey secretKey(int secret) {
        return ObjectKey.of(namespace(secret / 2), "s" + secret);
    }

    private Website website(int i) {
        Website website = new Website();
        website.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace(i))
                .withName("website-" + i)
                .build());
        website.setSpec(new WebsiteSpec(secretsOf(i)));
        return website;
    }

    private Secret secret(ObjectKey key, boolean used) {
        byte[] payload = new byte[PAYLOAD];
        ThreadLocalRandom.current().nextBytes(payload);
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace(key.namespace())
                .withName(key.name())
                .withLabels(used ? Map.of(LABEL, "true") : Map.of())
                .endMetadata()
                .withData(Map.of("value", Base64.getEncoder().encodeToString(payload)))
                .build();
    }

    /** Gives a referenced Secret a new payload and returns its resourceVersion. */
    long rotate(ObjectKey secret) {
        return Long.parseLong(
                admin.resource(secret(secret, true)).update().getMetadata().getResourceVersion());
    }

    /** Deletes the namespaces' Secrets and websites. */
    void clear() {
        for (String namespace : namespaces()) {
            admin.resources(Website.class).inNamespace(namespace).delete();
            admin.secrets().inNamespace(namespace).delete();
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
