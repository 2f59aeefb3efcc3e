package dev.podcache.object;

/** What a referrer needs an object for. */
public enum Usage {
    /** Environment variables: read once, when a container starts. */
    ENV,
    /** Files in a volume: kept up to date while the pod runs. */
    VOLUME,
    /** Credentials for pulling images. */
    PULL
}
