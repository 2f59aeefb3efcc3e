package dev.podcache.reflector;

import org.jspecify.annotations.Nullable;

/** The version from which the next watch goes on, or that there is none and a list is due. Not thread-safe. */
final class ResumePoint {

    private @Nullable String version; // null when a list is due, "" when a watch without one is
    private boolean versionless; // the watch began without a version and has had no bookmark yet

    /** A list of that version was taken in; if it is empty, the next watch begins without one. */
    void listed(String listed) {
        version = listed;
        versionless = false;
    }

    /** Whether {@link #next} will say that a list is due. */
    boolean needsList() {
        return version == null;
    }

    /** An event of the watch was taken in; its version is empty if it brought none. */
    void seen(String seen, boolean bookmark) {
        versionless &= !bookmark;
        // a watch without a version begins with the objects that are there, whose versions are
        // old and no place to resume from
        if (!seen.isEmpty() && !versionless) {
            version = seen;
        }
    }

    /** The server has forgotten the version, or the sink lacks something: only a list will do. */
    void lost() {
        version = null;
    }

    /** Where the watch that begins now is to begin, empty for one without a version; null if a list is due instead. */
    @Nullable
    String next() {
        String from = version;
        versionless = from != null && from.isEmpty();
        if (versionless) {
            version = null;
        }
        return from;
    }
}
