package dev.podcache.object;

/** What a referrer needs an object for. */
public enum Usage {
    /** Environment variables: read when a container starts, never again. */
    ENV,
    /** Files in a volume: kept up to date while the pod runs. */
    VOLUME,
    /** Credentials for pulling images. */
    PULL
}
