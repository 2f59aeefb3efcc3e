package dev.podcache.embedded;

/** The verb of a request, as in RBAC rules. */
public enum Verb {
    GET,
    LIST,
    WATCH,
    CREATE,
    UPDATE,
    PATCH,
    DELETE,
    DELETECOLLECTION
}
