package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** Checks the labels, annotations, owners and finalizers of an object, as a kube-apiserver does. Pure functions. */
final class MetadataRules {

    // After apimachinery/pkg/api/validation/objectmeta.go and apimachinery/pkg/util/validation/validation.go of
    // kubernetes/kubernetes, which report every error of an object; here the first one is enough.

    private static final int MAX_LABEL_LENGTH = 63;
    private static final int MAX_ANNOTATION_BYTES = 1 << 18;
    private static final Pattern LABEL_PART = Pattern.compile("([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]");
    private static final String QUALIFIED = "must be a qualified name";
    private static final String OWNERS = "metadata.ownerReferences";
    private static final ImmutableList<String> IDENTITY_OF_OWNER = ImmutableList.of("kind", "name", "uid");

    private final Resource resource;
    private final ObjectKey key;

    private MetadataRules(Resource resource, ObjectKey key) {
        this.resource = resource;
        this.key = key;
    }

    /**
     * Checks the labels, annotations and owners of an object that is to be stored.
     *
     * @throws StatusException 422 if they are invalid
     */
    static void check(Resource resource, ObjectKey key, JsonNode metadata) {
        MetadataRules rules = new MetadataRules(resource, key);
        rules.checkLabels(metadata.path("labels"));
        rules.checkAnnotations(metadata.path("annotations"));
        rules.checkOwners(metadata.path("ownerReferences"));
    }

    /**
     * Checks the names of the finalizers.
     *
     * @throws StatusException 422 if one is invalid
     */
    static void checkFinalizers(Resource resource, ObjectKey key, JsonNode metadata) {
        for (JsonNode finalizer : metadata.path("finalizers")) {
            String name = finalizer.asText();
            if (!isQualifiedName(name)) {
                throw new MetadataRules(resource, key).invalid("metadata.finalizers", "\"" + name + "\"", QUALIFIED);
            }
        }
    }

    private StatusException invalid(String field, String value, String why) {
        return StatusException.invalid(resource, key.name(), FieldError.invalid(field, value, why));
    }

    private void checkLabels(JsonNode labels) {
        for (Map.Entry<String, JsonNode> label : labels.properties()) {
            String name = label.getKey();
            String value = label.getValue().asText();
            if (!isQualifiedName(name)) {
                throw invalid("metadata.labels", "\"" + name + "\"", QUALIFIED);
            }
            if (value.length() > MAX_LABEL_LENGTH) {
                throw invalid(
                        "metadata.labels",
                        "\"" + value + "\"",
                        "must be no more than " + MAX_LABEL_LENGTH + " characters");
            }
            if (!value.isEmpty() && !LABEL_PART.matcher(value).matches()) {
                throw invalid(
                        "metadata.labels",
                        "\"" + value + "\"",
                        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
                                + " and must start and end with an alphanumeric character");
            }
        }
    }

    private void checkAnnotations(JsonNode annotations) {
        long size = 0;
        for (Map.Entry<String, JsonNode> annotation : annotations.properties()) {
            String name = annotation.getKey();
            if (!isQualifiedName(name.toLowerCase(Locale.ROOT))) {
                throw invalid("metadata.annotations", "\"" + name + "\"", QUALIFIED);
            }
            size += bytes(name) + bytes(annotation.getValue().asText());
        }
        if (size > MAX_ANNOTATION_BYTES) {
            throw StatusException.invalid(
                    resource, key.name(), FieldError.tooLong("metadata.annotations", MAX_ANNOTATION_BYTES));
        }
    }

    private static long bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private void checkOwners(JsonNode owners) {
        String controller = "";
        for (JsonNode owner : owners) {
            String apiVersion = owner.path("apiVersion").asText();
            if (!hasVersion(apiVersion)) {
                throw invalid(OWNERS + ".apiVersion", "\"" + apiVersion + "\"", "version must not be empty");
            }
            for (String field : IDENTITY_OF_OWNER) {
                if (owner.path(field).asText().isEmpty()) {
                    throw invalid(OWNERS + "." + field, "\"\"", field + " must not be empty");
                }
            }
            String kind = owner.path("kind").asText();
            if (apiVersion.equals("v1") && kind.equals("Event")) {
                throw invalid(OWNERS, "{...}", "/v1, Kind=Event is disallowed from being an owner");
            }
            if (owner.path("controller").asBoolean()) {
                String name = kind + "/" + owner.path("name").asText();
                if (!controller.isEmpty()) {
                    throw invalid(
                            OWNERS,
                            "[...]",
                            "Only one reference can have Controller set to true. Found \"true\" in references for "
                                    + controller + " and " + name);
                }
                controller = name;
            }
        }
    }

    /** Returns whether an API version is a version, or a group and a version. */
    private static boolean hasVersion(String apiVersion) {
        int slash = apiVersion.indexOf('/');
        return slash == apiVersion.lastIndexOf('/') && slash + 1 < apiVersion.length();
    }

    private static boolean isQualifiedName(String text) {
        int slash = text.indexOf('/');
        String name = text.substring(slash + 1);
        return (slash < 0 || ObjectKey.of("none", text.substring(0, slash)).isLegal())
                && name.length() <= MAX_LABEL_LENGTH
                && LABEL_PART.matcher(name).matches();
    }
}
