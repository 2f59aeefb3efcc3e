package dev.podcache.object;

/**
 * Why a request to the API server returned no object. Derived from HTTP codes and the Status, never from message text.
 */
public enum FailureReason {
    /** 404: the object does not exist. */
    NOT_FOUND,
    /** 403: the caller is authenticated but lacks the permission. */
    FORBIDDEN,
    /** 401: the caller is not authenticated. */
    UNAUTHORIZED,
    /** 429: the server, or the client-side limit, wants fewer requests. */
    THROTTLED,
    /** No connection, a broken connection, or 5xx. */
    UNAVAILABLE,
    /** No answer in time. */
    TIMEOUT,
    /** 410, or an ERROR event with that code: the server no longer knows the requested resourceVersion. */
    EXPIRED,
    /** 409, or 422 about the UID: the object was changed by another client, or replaced by another object. */
    CONFLICT,
    /** 409 to a creation: an object of that name exists. */
    ALREADY_EXISTS,
    /** 400, 405, 422 and other codes that a retry cannot mend; also a request on a closed client. */
    REJECTED,
    /** The answer could not be decoded as the requested object. */
    UNREADABLE,
    /** The calling thread was interrupted while it waited. */
    INTERRUPTED
}
