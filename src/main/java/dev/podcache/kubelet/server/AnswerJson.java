package dev.podcache.kubelet.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.podcache.object.ModelJson;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import java.nio.charset.StandardCharsets;

/** Writes the JSON of answers: of trees, maps and plain values, and of objects of fabric8's model. */
final class AnswerJson {

    private static final ObjectMapper JSON = JsonMapper.builder().build();

    private AnswerJson() {}

    /** @throws IllegalArgumentException if a value cannot be written */
    static byte[] bytes(Object value) {
        if (value instanceof KubernetesResource model) {
            return ModelJson.text(model).getBytes(StandardCharsets.UTF_8);
        }
        try {
            return JSON.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "an answer of type " + value.getClass().getName() + " is no JSON", e);
        }
    }
}
