package dev.podcache.embedded;

/** What a request does, in the words of RBAC. */
public enum Verb {
    GET,
    LIST,
    WATCH,
    CREATE,
    UPDATE,
    PATCH,
    DELETE
}
