package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.StatusCauseBuilder;
import java.util.Objects;

/**
 * Thrown when the cluster refuses a request. Has the Status of a kube-apiserver: its code, reason and wording. Messages
 * name objects and fields and never contain a payload. Immutable.
 */
public final class StatusException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient Status status;

    /** Creates an exception with {@code status}, whose code and message must be set. */
    public StatusException(Status status) {
        super(Objects.requireNonNull(status.getMessage(), "message"), null, false, false);
        Objects.requireNonNull(status.getCode(), "code");
        this.status = status;
    }

    /** Returns the Status in the answer; callers must not modify it. */
    public Status status() {
        return status;
    }

    /** Returns the HTTP status code. */
    public int code() {
        return status.getCode();
    }

    /** Returns a 429 with a Retry-After header. */
    public static StatusException tooManyRequests(int retryAfterSeconds) {
        return new StatusException(
                failure(429, "TooManyRequests", "the server is currently overloaded, try again later")
                        .withNewDetails()
                        .withRetryAfterSeconds(retryAfterSeconds)
                        .endDetails()
                        .build());
    }

    /** 403 for a read of an object. */
    public static StatusException forbidden(Resource resource, String name) {
        return about(resource, name, 403, "Forbidden", "is forbidden: access was switched off");
    }

    /** 401. */
    public static StatusException unauthorized() {
        return of(401, "Unauthorized", "Unauthorized");
    }

    /** 500. */
    public static StatusException internalError() {
        return of(500, "InternalError", "Internal error occurred: a fault was switched on");
    }

    /** 503. */
    public static StatusException serviceUnavailable() {
        return of(503, "ServiceUnavailable", "the server is currently unable to handle the request");
    }

    /** Returns a 410: the requested resourceVersion is no longer in the history. */
    public static StatusException gone() {
        return of(410, "Expired", "The resourceVersion for the provided watch is too old.");
    }

    static StatusException of(int code, String reason, String message) {
        return new StatusException(failure(code, reason, message).build());
    }

    static StatusException notFound(Resource resource, String name) {
        return about(resource, name, 404, "NotFound", "not found");
    }

    /** Returns a 404 for a path that names nothing that is served. */
    static StatusException unknownPath() {
        return of(404, "NotFound", "the server could not find the requested resource");
    }

    /** Returns a 403 with the reason, in the words of a kube-apiserver. The name may be empty. */
    static StatusException forbidden(String group, String plural, String name, String why) {
        String qualified = group.isEmpty() ? plural : plural + "." + group;
        String subject = qualified.isEmpty()
                ? "forbidden: "
                : qualified + (name.isEmpty() ? "" : " \"" + name + "\"") + " is forbidden: ";
        return new StatusException(failure(403, "Forbidden", subject + why)
                .withNewDetails()
                .withName(name.isEmpty() ? null : name)
                .withGroup(group.isEmpty() ? null : group)
                .withKind(plural.isEmpty() ? null : plural)
                .endDetails()
                .build());
    }

    /** Returns a 403 for a new object in a namespace that is being deleted. */
    static StatusException terminating(Resource resource, ObjectKey key) {
        StatusException refusal = forbidden(
                resource.group(),
                resource.plural(),
                key.name(),
                "unable to create new content in namespace " + key.namespace() + " because it is being terminated");
        refusal.status()
                .getDetails()
                .getCauses()
                .add(new StatusCauseBuilder()
                        .withReason("NamespaceTerminating")
                        .withMessage("namespace " + key.namespace() + " is being terminated")
                        .withField("metadata.namespace")
                        .build());
        return refusal;
    }

    /** Returns a 410: the state that a {@code continue} token belongs to is no longer known. */
    static StatusException expiredContinue() {
        return of(
                410,
                "Expired",
                "The provided continue parameter is too old to display a consistent list result. You must start a new"
                        + " list without the continue parameter.");
    }

    static StatusException alreadyExists(Resource resource, String name) {
        return about(resource, name, 409, "AlreadyExists", "already exists");
    }

    static StatusException conflict(Resource resource, String name, String why) {
        String message = "Operation cannot be fulfilled on " + resource.qualified() + " \"" + name + "\": " + why;
        return new StatusException(detailed(failure(409, "Conflict", message), resource.plural(), resource, name));
    }

    static StatusException invalid(Resource resource, String name, FieldError error) {
        return invalid(qualifiedKind(resource), resource.kind(), resource, name, error);
    }

    /**
     * Returns a 422 that names the resource instead of the kind, as a kube-apiserver does when the storage refuses an
     * update.
     */
    static StatusException invalidUpdate(Resource resource, String name, FieldError error) {
        return invalid(resource.qualified(), resource.plural(), resource, name, error);
    }

    private static StatusException invalid(
            String subject, String kind, Resource resource, String name, FieldError error) {
        String message = subject + " \"" + name + "\" is invalid: " + error.message();
        Status status = detailed(failure(422, "Invalid", message), kind, resource, name);
        status.getDetails()
                .getCauses()
                .add(new StatusCauseBuilder()
                        .withReason(error.reason())
                        .withMessage(error.detail())
                        .withField(error.field())
                        .build());
        return new StatusException(status);
    }

    /** Returns a 422 for a parameter that a list or watch must not have. */
    static StatusException invalidOption(String parameter, String why) {
        FieldError error = FieldError.forbidden(parameter, why);
        String message = "ListOptions.meta.k8s.io \"\" is invalid: " + error.message();
        return new StatusException(failure(422, "Invalid", message)
                .withNewDetails()
                .withKind("ListOptions")
                .withGroup("meta.k8s.io")
                .addNewCause()
                .withReason(error.reason())
                .withMessage(error.detail())
                .withField(error.field())
                .endCause()
                .endDetails()
                .build());
    }

    /** Returns a 422 for a well-formed patch that does not apply to the object. */
    static StatusException unprocessable(String why) {
        return of(422, "Invalid", "the server rejected our request due to an error in our request: " + why);
    }

    /**
     * Returns a 409 for a failed precondition of a deletion. Its details name the kind, those of other conflicts the
     * resource.
     */
    static StatusException preconditionFailed(Resource resource, String name, String why) {
        String message = "Operation cannot be fulfilled on " + qualifiedKind(resource) + " \"" + name + "\": " + why;
        return new StatusException(detailed(failure(409, "Conflict", message), resource.kind(), resource, name));
    }

    /** Returns the answer of a kube-apiserver to a malformed resourceVersion: a 500. */
    static StatusException invalidVersion(String version) {
        return unforeseen("resourceVersion: Invalid value: \"" + version + "\": not an unsigned number");
    }

    /** Returns a 500 without a reason, for a mistake of the client that a kube-apiserver does not handle. */
    static StatusException unforeseen(String message) {
        return of(500, "", message);
    }

    static StatusException badRequest(String message) {
        return of(400, "BadRequest", message);
    }

    static StatusException expired(long asked, long oldest) {
        return of(410, "Expired", "too old resource version: " + asked + " (" + oldest + ")");
    }

    /** Returns a 504: the watch cache is older than the requested version, which may come from another API server. */
    public static StatusException tooLargeVersion(long asked, long current) {
        String message = "Timeout: Too large resource version: " + asked + ", current: " + current;
        return new StatusException(failure(504, "Timeout", message)
                .withNewDetails()
                .withRetryAfterSeconds(1)
                .addNewCause()
                .withReason("ResourceVersionTooLarge")
                .withMessage("Too large resource version")
                .endCause()
                .endDetails()
                .build());
    }

    private static StatusException about(Resource resource, String name, int code, String reason, String what) {
        String message = resource.qualified() + " \"" + name + "\" " + what;
        return new StatusException(detailed(failure(code, reason, message), resource.plural(), resource, name));
    }

    private static StatusBuilder failure(int code, String reason, String message) {
        return new StatusBuilder()
                .withNewMetadata()
                .endMetadata()
                .withStatus("Failure")
                .withCode(code)
                .withReason(reason)
                .withMessage(message);
    }

    private static Status detailed(StatusBuilder status, String kind, Resource resource, String name) {
        String group = resource.group();
        return status.withNewDetails()
                .withName(name)
                .withKind(kind)
                .withGroup(group.isEmpty() ? null : group)
                .endDetails()
                .build();
    }

    private static String qualifiedKind(Resource resource) {
        return resource.group().isEmpty() ? resource.kind() : resource.kind() + "." + resource.group();
    }
}
