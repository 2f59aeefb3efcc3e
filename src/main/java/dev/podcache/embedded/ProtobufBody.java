package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Decodes the protobuf bodies of {@code kubectl create} for Secrets, ConfigMaps, Namespaces, ServiceAccounts, Roles and
 * bindings, and of {@code kubectl auth can-i}, which are sent in no other format. A body with other fields is refused, so that no data is lost.
 */
final class ProtobufBody {

    // Field numbers after api/{core,rbac,authorization}/v1/generated.proto and
    // apimachinery/pkg/{runtime,apis/meta/v1}/generated.proto.

    static final String MEDIA_TYPE = "application/vnd.kubernetes.protobuf";

    private static final int MAGIC = 0x6b387300; // "k8s" and a zero
    private static final int LENGTH_DELIMITED = 2;

    private ProtobufBody() {}

    private interface FieldReader {
        void read(int field, ByteBuffer value);
    }

    /**
     * Returns the object as JSON.
     *
     * @throws StatusException 400 if the body is malformed, 415 if it has other kinds or fields
     */
    static ObjectNode decode(byte[] body) {
        ByteBuffer buffer = ByteBuffer.wrap(body);
        ObjectNode object = Json.MAPPER.createObjectNode();
        try {
            if (buffer.getInt() != MAGIC) {
                throw StatusException.badRequest("the body of the request is not Kubernetes protobuf");
            }
            fields(buffer, (field, value) -> {
                switch (field) {
                    case 1 -> typeMeta(value, object);
                    case 2 -> content(value, object);
                    default -> requireEmpty(value);
                }
            });
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw StatusException.badRequest("the protobuf in the body of the request is truncated");
        }
        return object;
    }

    private static void typeMeta(ByteBuffer message, ObjectNode object) {
        fields(message, (field, value) -> object.put(field == 1 ? "apiVersion" : "kind", text(value)));
    }

    private static void content(ByteBuffer message, ObjectNode object) {
        String kind = object.path("kind").asText();
        fields(message, (field, value) -> {
            switch (kind + " " + field) {
                case "Secret 1",
                        "ConfigMap 1",
                        "Namespace 1",
                        "ServiceAccount 1",
                        "Role 1",
                        "ClusterRole 1",
                        "RoleBinding 1",
                        "ClusterRoleBinding 1",
                        "SelfSubjectAccessReview 1" -> metadata(value, Json.object(object, "metadata"));
                case "Secret 2" -> entry(value, Json.object(object, "data"), true);
                case "Secret 3" -> object.put("type", text(value));
                case "Secret 4" -> entry(value, Json.object(object, "stringData"), false);
                case "Secret 5", "ConfigMap 4" -> object.put("immutable", isTrue(value));
                case "ConfigMap 2" -> entry(value, Json.object(object, "data"), false);
                case "ConfigMap 3" -> entry(value, Json.object(object, "binaryData"), true);
                case "Namespace 2" -> requireEmpty(value);
                case "Namespace 3", "SelfSubjectAccessReview 3" -> {} // the status, which a create request ignores
                case "Role 2", "ClusterRole 2" ->
                    rule(value, object.withArray("/rules").addObject());
                case "RoleBinding 2", "ClusterRoleBinding 2" ->
                    texts(value, object.withArray("/subjects").addObject(), "kind", "apiGroup", "name", "namespace");
                case "RoleBinding 3", "ClusterRoleBinding 3" ->
                    texts(value, Json.object(object, "roleRef"), "apiGroup", "kind", "name");
                case "SelfSubjectAccessReview 2" -> attributes(value, Json.object(object, "spec"));
                default -> throw unsupported();
            }
        });
    }

    private static void metadata(ByteBuffer message, ObjectNode metadata) {
        fields(message, (field, value) -> {
            switch (field) {
                case 1 -> metadata.put("name", text(value));
                case 2 -> metadata.put("generateName", text(value));
                case 3 -> metadata.put("namespace", text(value));
                case 11 -> entry(value, Json.object(metadata, "labels"), false);
                case 12 -> entry(value, Json.object(metadata, "annotations"), false);
                default -> requireEmpty(value);
            }
        });
    }

    private static void rule(ByteBuffer message, ObjectNode rule) {
        ImmutableList<String> lists =
                ImmutableList.of("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs");
        fields(message, (field, value) -> {
            if (field < 1 || field > lists.size()) {
                throw unsupported();
            }
            rule.withArray("/" + lists.get(field - 1)).add(text(value));
        });
    }

    private static void attributes(ByteBuffer message, ObjectNode spec) {
        fields(message, (field, value) -> {
            switch (field) {
                case 1 ->
                    texts(
                            value,
                            Json.object(spec, "resourceAttributes"),
                            "namespace",
                            "verb",
                            "group",
                            "version",
                            "resource",
                            "subresource",
                            "name");
                case 2 -> texts(value, Json.object(spec, "nonResourceAttributes"), "path", "verb");
                default -> requireEmpty(value);
            }
        });
    }

    /** Reads a message whose fields are texts, and leaves out the empty ones. */
    private static void texts(ByteBuffer message, ObjectNode object, String... names) {
        fields(message, (field, value) -> {
            if (field < 1 || field > names.length) {
                throw unsupported();
            }
            if (value.hasRemaining()) {
                object.put(names[field - 1], text(value));
            }
        });
    }

    private static void entry(ByteBuffer message, ObjectNode map, boolean bytes) {
        String[] keyAndValue = {"", ""};
        fields(message, (field, value) -> {
            if (field != 1 && field != 2) {
                throw unsupported();
            }
            keyAndValue[field - 1] = field == 1 || !bytes ? text(value) : base64(value);
        });
        map.put(keyAndValue[0], keyAndValue[1]);
    }

    private static void fields(ByteBuffer message, FieldReader reader) {
        while (message.hasRemaining()) {
            int tag = varint(message);
            boolean delimited = (tag & 7) == LENGTH_DELIMITED;
            if (!delimited && (tag & 7) != 0) {
                throw unsupported();
            }
            int start = message.position();
            int number = varint(message);
            if (delimited && number < 0) {
                // a negative length would move the position backwards and loop for ever
                throw new BufferUnderflowException();
            }
            int from = delimited ? message.position() : start;
            int to = delimited ? from + number : message.position();
            ByteBuffer value = message.duplicate().position(from).limit(to).slice();
            message.position(to);
            reader.read(tag >>> 3, value);
        }
    }

    private static int varint(ByteBuffer buffer) {
        int result = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = buffer.get();
            result |= shift < Integer.SIZE ? (next & 0x7f) << shift : 0;
            if (next >= 0) {
                return result;
            }
        }
    }

    private static String text(ByteBuffer value) {
        return StandardCharsets.UTF_8.decode(value.duplicate()).toString();
    }

    private static String base64(ByteBuffer value) {
        return StandardCharsets.ISO_8859_1
                .decode(Base64.getEncoder().encode(value.duplicate()))
                .toString();
    }

    private static boolean isTrue(ByteBuffer value) {
        return value.hasRemaining() && value.get(0) != 0;
    }

    /** Accepts an unset field, which the encoder of Go writes as an empty value or a zero. */
    private static void requireEmpty(ByteBuffer value) {
        if (value.hasRemaining() && !(value.remaining() == 1 && value.get(0) == 0)) {
            throw unsupported();
        }
    }

    private static StatusException unsupported() {
        return StatusException.of(
                415,
                "UnsupportedMediaType",
                "this server decodes protobuf only of what kubectl creates: Secrets, ConfigMaps, Namespaces,"
                        + " ServiceAccounts, Roles, bindings and reviews of one's own access; send application/json");
    }
}
