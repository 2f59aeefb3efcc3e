package dev.podcache.reflector;

/**
 * The latest resourceVersion of one API server. Lists and bookmarks of one moment have the same version, but each is
 * decoded to a String of its own. With this, the reflectors keep one String for all of them. Thread-safe.
 */
final class LatestVersion {

    private volatile String latest = ""; // a lost update only costs memory

    /** Returns the String of the call before if it equals {@code version}, otherwise {@code version}. */
    String share(String version) {
        String before = latest;
        if (before.equals(version)) {
            return before;
        }
        latest = version;
        return version;
    }
}
