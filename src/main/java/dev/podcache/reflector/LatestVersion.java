package dev.podcache.reflector;

/**
 * Lets the reflectors of one API server keep one text for one version. Lists that are made together have the same
 * version, and so have the bookmarks of one moment, but each is decoded to a text of its own. Thread-safe.
 */
final class LatestVersion {

    private volatile String latest = ""; // a lost update costs only memory

    /** Returns the text of {@code version} to keep: that of the call before, if it is the same version. */
    String share(String version) {
        String before = latest;
        if (before.equals(version)) {
            return before;
        }
        latest = version;
        return version;
    }
}
