package dev.podcache.reflector;

import org.jspecify.annotations.Nullable;

/** The version from which the next watch resumes, or that a list is due. Not thread-safe. */
final class ResumePoint {

    private @Nullable String version; // null if a list is due, "" for a watch without a version
    private boolean versionless; // the watch began without a version and has had no bookmark yet

    /** Records a list that was applied. If its version is empty, the next watch begins without one. */
    void listed(String listed) {
        version = listed;
        versionless = false;
    }

    /** Returns whether {@link #next} will return null. */
    boolean needsList() {
        return version == null;
    }

    /** Records an event of the watch that was applied. Its version may be empty. */
    void applied(String applied, boolean bookmark) {
        versionless &= !bookmark;
        // a watch without a version begins with the existing objects; their versions are old, so it cannot resume from
        // them
        if (!applied.isEmpty() && !versionless) {
            version = applied;
        }
    }

    /** Requires a list, because the server no longer knows the version or the sink missed something. */
    void requireList() {
        version = null;
    }

    /** Returns the version from which the watch that begins now resumes, empty for none; null if a list is due. */
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
