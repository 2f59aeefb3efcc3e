package dev.podcache.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Base64;
import java.util.Map;

/** Objects whose payload tells which state of which object it is. */
final class Payloads {

    private static final String KEY = "marker";

    private Payloads() {}

    /** The body of a create or an update. */
    static ObjectNode body(String namespace, CachedObject subject, Version version, int padding) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("apiVersion", "v1").put("kind", subject.kind().text);
        body.putObject("metadata").put("namespace", namespace).put("name", subject.name());
        if (version.immutable()) {
            body.put("immutable", true);
        }
        String text = ChaosCanary.TEXT + version.marker();
        boolean secret = subject.kind() == CachedObject.CachedKind.SECRET;
        body.putObject("data")
                .put(KEY, secret ? Base64.getEncoder().encodeToString(text.getBytes(UTF_8)) : text)
                .put("padding", "eHh4".repeat(padding));
        return body;
    }

    /** What is in an answer of the server. */
    static String marker(CachedObject subject, JsonNode answer) {
        return marker(subject.kind(), answer.at("/data/" + KEY).asText());
    }

    /** What is in an object that a cache returned. */
    static String marker(HasMetadata object) {
        if (object instanceof Secret secret) {
            return marker(CachedObject.CachedKind.SECRET, text(secret.getData()));
        }
        return marker(CachedObject.CachedKind.CONFIG_MAP, text(((ConfigMap) object).getData()));
    }

    private static String text(Map<String, String> data) {
        return data.getOrDefault(KEY, "");
    }

    private static String marker(CachedObject.CachedKind kind, String stored) {
        String text = kind == CachedObject.CachedKind.SECRET
                ? new String(Base64.getDecoder().decode(stored), UTF_8)
                : stored;
        return text.startsWith(ChaosCanary.TEXT) ? text.substring(ChaosCanary.TEXT.length()) : "no marker";
    }
}
