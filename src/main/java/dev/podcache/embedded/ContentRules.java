package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.object.ObjectKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Pattern;

/** Checks the metadata, and what a Secret or ConfigMap contains, as a kube-apiserver does. Pure functions. */
final class ContentRules {

    // After pkg/apis/core/validation/validation.go and apimachinery/pkg/util/validation/validation.go of
    // kubernetes/kubernetes, which report every error of an object; here the first one is enough.

    private static final int MAX_PAYLOAD_BYTES = 1 << 20;
    private static final int MAX_KEY_LENGTH = 253;
    private static final Pattern KEY = Pattern.compile("[-._a-zA-Z0-9]+");
    private static final String ACCOUNT_NAME = "kubernetes.io/service-account.name";

    private static final ImmutableMap<String, ImmutableList<String>> REQUIRED_KEYS = ImmutableMap.of(
            "kubernetes.io/dockercfg", ImmutableList.of(".dockercfg"),
            "kubernetes.io/dockerconfigjson", ImmutableList.of(".dockerconfigjson"),
            "kubernetes.io/tls", ImmutableList.of("tls.crt", "tls.key"));

    private final Resource resource;
    private final ObjectKey key;

    private ContentRules(Resource resource, ObjectKey key) {
        this.resource = resource;
        this.key = key;
    }

    /**
     * Checks an object that is to be stored.
     *
     * @throws StatusException 422 if its metadata or content is invalid, 400 if it is not base64 where it must be
     */
    static void check(Resource resource, ObjectKey key, ObjectNode object) {
        MetadataRules.check(resource, key, object.path("metadata"));
        ContentRules rules = new ContentRules(resource, key);
        if (resource.equals(Resource.SECRETS)) {
            rules.checkSecret(object);
        } else if (resource.equals(Resource.CONFIG_MAPS)) {
            rules.checkConfigMap(object);
        }
    }

    private StatusException invalid(FieldError error) {
        return StatusException.invalid(resource, key.name(), error);
    }

    private void checkSecret(ObjectNode secret) {
        JsonNode data = secret.path("data");
        if (checkedSize(data, "data", true) > MAX_PAYLOAD_BYTES) {
            throw invalid(FieldError.tooLong("data", MAX_PAYLOAD_BYTES));
        }
        String type = secret.path("type").asText();
        for (String required : REQUIRED_KEYS.getOrDefault(type, ImmutableList.of())) {
            requireKey(data.has(required), "data", required);
            if (required.startsWith(".")) {
                requireJsonObject(required, data.path(required).asText());
            }
        }
        // upstream writes the %s
        switch (type) {
            case "kubernetes.io/ssh-auth" ->
                requireKey(!data.path("ssh-privatekey").asText().isEmpty(), "data[%s]", "ssh-privatekey");
            case "kubernetes.io/basic-auth" ->
                requireKey(data.has("username") || data.has("password"), "data[%s]", "username");
            case "kubernetes.io/service-account-token" ->
                requireKey(
                        !secret.at("/metadata/annotations")
                                .path(ACCOUNT_NAME)
                                .asText()
                                .isEmpty(),
                        "metadata.annotations",
                        ACCOUNT_NAME);
            default -> {}
        }
    }

    private void requireKey(boolean present, String field, String name) {
        if (!present) {
            throw invalid(FieldError.required(field + "[" + name + "]", ""));
        }
    }

    private void requireJsonObject(String name, String base64) {
        JsonNode content;
        try {
            content = Json.MAPPER.readTree(Base64.getDecoder().decode(base64));
        } catch (IOException e) {
            content = MissingNode.getInstance();
        }
        if (!content.isObject() && !content.isNull()) {
            throw invalid(FieldError.invalid(
                    "data[" + name + "]", "\"<secret contents redacted>\"", "must be a JSON object"));
        }
    }

    private void checkConfigMap(ObjectNode configMap) {
        JsonNode data = configMap.path("data");
        JsonNode binaryData = configMap.path("binaryData");
        long size = checkedSize(data, "data", false) + checkedSize(binaryData, "binaryData", true);
        for (Map.Entry<String, JsonNode> entry : data.properties()) {
            if (binaryData.has(entry.getKey())) {
                throw invalid(FieldError.invalid(
                        "data[" + entry.getKey() + "]",
                        "\"" + entry.getKey() + "\"",
                        "duplicate of key present in binaryData"));
            }
        }
        if (size > MAX_PAYLOAD_BYTES) {
            // upstream names the empty path, which it writes like this
            throw invalid(FieldError.tooLong("[]", MAX_PAYLOAD_BYTES));
        }
    }

    /** Checks the keys of a map, and returns the size of its values. */
    private long checkedSize(JsonNode map, String field, boolean base64) {
        long size = 0;
        for (Map.Entry<String, JsonNode> entry : map.properties()) {
            String name = entry.getKey();
            String why = whyNoKey(name);
            if (!why.isEmpty()) {
                throw invalid(FieldError.invalid(field + "[" + name + "]", "\"" + name + "\"", why));
            }
            String value = entry.getValue().asText();
            size += base64 ? decodedLength(field + "." + name, value) : value.getBytes(StandardCharsets.UTF_8).length;
        }
        return size;
    }

    private static String whyNoKey(String name) {
        if (name.length() > MAX_KEY_LENGTH) {
            return "must be no more than " + MAX_KEY_LENGTH + " characters";
        }
        if (!KEY.matcher(name).matches()) {
            return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or"
                    + " 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        }
        if (name.equals(".") || name.equals("..")) {
            return "must not be '" + name + "'";
        }
        return name.startsWith("..") ? "must not start with '..'" : "";
    }

    private int decodedLength(String field, String base64) {
        try {
            return Base64.getDecoder().decode(base64).length;
        } catch (IllegalArgumentException e) {
            // the message of the decoder quotes a character of the secret
            String kind = resource.kind();
            throw StatusException.badRequest(kind + " in version \"v1\" cannot be handled as a " + kind + ": " + field
                    + " of \"" + key.name() + "\" is not base64");
        }
    }
}
