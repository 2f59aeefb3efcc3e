package dev.podcache.embedded;

/**
 * An invalid field of an object, with the reason and wording of a kube-apiserver.
 *
 * @param detail the message without the name of the field; never contains a payload
 */
record FieldError(String field, String reason, String detail) {

    // After apimachinery/pkg/util/validation/field/errors.go of kubernetes/kubernetes.

    /** Returns the error for a missing field; {@code why} may be "". */
    static FieldError required(String field, String why) {
        return new FieldError(field, "FieldValueRequired", why.isEmpty() ? "Required value" : "Required value: " + why);
    }

    /** Returns the error for an invalid value. The message contains {@code value}, which must not be secret. */
    static FieldError invalid(String field, String value, String why) {
        return new FieldError(field, "FieldValueInvalid", "Invalid value: " + value + ": " + why);
    }

    /** Returns the error for a value that another element has. The message contains {@code value}, which must not be secret. */
    static FieldError duplicate(String field, String value) {
        return new FieldError(field, "FieldValueDuplicate", "Duplicate value: \"" + value + "\"");
    }

    /** Returns the error for a field that must not be set or changed. */
    static FieldError forbidden(String field, String why) {
        return new FieldError(field, "FieldValueForbidden", "Forbidden: " + why);
    }

    /** Returns the error for a field whose content exceeds {@code maxBytes}. */
    static FieldError tooLong(String field, long maxBytes) {
        return new FieldError(field, "FieldValueTooLong", "Too long: must have at most " + maxBytes + " bytes");
    }

    /** Returns the message with the name of the field. */
    String message() {
        return field + ": " + detail;
    }
}
