package dev.podcache.apiserver;

/** Where the API server reads an object from. */
public enum ReadSource {
    /** Its watch cache, which may lag (resourceVersion "0"). Cheap for the server. */
    CACHE,
    /** Its storage: the latest committed state (no resourceVersion). */
    QUORUM
}
