package dev.podcache.embedded;

/**
 * What is wrong with one field of an object, in the words of a kube-apiserver.
 *
 * @param what without the field, never with a payload
 */
record FieldError(String field, String reason, String what) {

    // After apimachinery/pkg/util/validation/field/errors.go of kubernetes/kubernetes.

    static FieldError required(String field, String why) {
        return new FieldError(field, "FieldValueRequired", "Required value: " + why);
    }

    /** A value that may be shown. */
    static FieldError invalid(String field, String value, String why) {
        return new FieldError(field, "FieldValueInvalid", "Invalid value: " + value + ": " + why);
    }

    static FieldError forbidden(String field, String why) {
        return new FieldError(field, "FieldValueForbidden", "Forbidden: " + why);
    }

    static FieldError tooLong(String field, long maxBytes) {
        return new FieldError(field, "FieldValueTooLong", "Too long: must have at most " + maxBytes + " bytes");
    }

    String message() {
        return field + ": " + what;
    }
}
