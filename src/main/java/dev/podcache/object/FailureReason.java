package dev.podcache.object;

/** Why a request to the API server brought no object, told apart by HTTP code and Status, never by text. */
public enum FailureReason {
    /** 404: the server answers that there is no such object. */
    NOT_FOUND,
    /** 403: the server knows who we are and refuses. */
    FORBIDDEN,
    /** 401: the server does not know who we are. */
    UNAUTHORIZED,
    /** 429: the server, or the client-side limit, wants fewer requests. */
    THROTTLED,
    /** No connection, a broken one, or 5xx. */
    UNAVAILABLE,
    /** No answer in time. */
    TIMEOUT,
    /** 410, or an ERROR event with that code: the resourceVersion asked for is no longer known. */
    EXPIRED,
    /** 409, or 422 about the UID: somebody else changed the object first, or another has taken its place. */
    CONFLICT,
    /** 409 to a creation: there is an object of that name. */
    ALREADY_EXISTS,
    /** 400, 405, 422 and other codes that a repetition cannot mend; or the client that was to ask is closed. */
    REJECTED,
    /** The answer could not be read as the object asked for. */
    UNREADABLE,
    /** The calling thread was interrupted while it waited. */
    INTERRUPTED
}
