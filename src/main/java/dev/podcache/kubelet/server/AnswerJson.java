package dev.podcache.kubelet.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Writes the JSON of answers. */
final class AnswerJson {

    private static final ObjectMapper JSON =
            JsonMapper.builder().findAndAddModules().build();

    private AnswerJson() {}

    /** @throws IllegalArgumentException if a value cannot be written */
    static byte[] bytes(Object value) {
        try {
            return JSON.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "an answer of type " + value.getClass().getName() + " is no JSON", e);
        }
    }
}
