package dev.podcache.patch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** JSON as tests write it: with single quotes. */
final class Trees {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Trees() {}

    static ObjectNode tree(String singleQuoted) {
        try {
            return (ObjectNode) MAPPER.readTree(singleQuoted.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(singleQuoted, e);
        }
    }
}
