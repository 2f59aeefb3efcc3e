package dev.podcache.testing;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Creates Secrets for tests, with one key {@code value} and a second one with the {@link NoLeaks#CANARY}. */
public final class Secrets {

    private Secrets() {}

    /** Creates a Secret with this value. */
    public static Secret of(String namespace, String name, String value) {
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .addToData("value", encoded(value))
                .addToData("canary", encoded(NoLeaks.CANARY))
                .build();
    }

    /** Creates a Secret with this value. */
    public static Secret of(ObjectKey key, String value) {
        return of(key.namespace(), key.name(), value);
    }

    /** Creates an immutable Secret with this value. */
    public static Secret immutable(ObjectKey key, String value) {
        return new SecretBuilder(of(key, value)).withImmutable(true).build();
    }

    /** Returns the value of a Secret. */
    public static String value(Secret secret) {
        return new String(Base64.getDecoder().decode(secret.getData().get("value")), StandardCharsets.UTF_8);
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
