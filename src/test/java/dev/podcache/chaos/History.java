package dev.podcache.chaos;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The states of one object, in the order in which the server has had them. One thread writes, any thread reads. */
final class History {

    /*
     * There is one writer and at most one write under way, so the order is certain; only the moments are not: a state
     * is the server's from somewhere between the sending of its write and the answer, until somewhere between the
     * sending of the next write and its answer. Every question is answered in favour of the cache.
     */

    private final List<Version> versions = new ArrayList<>(); // guarded by this
    private final Map<String, Integer> byMarker = new HashMap<>(); // guarded by this

    /** One of an object that does not exist yet. */
    History() {
        versions.add(new Version(0, null, false, 0, 0, Version.WriteResult.APPLIED));
    }

    /** A write is about to be sent. */
    synchronized Version propose(@Nullable String marker, boolean immutable, long now) {
        Version version =
                new Version(versions.size(), marker, immutable, now, Version.UNKNOWN, Version.WriteResult.PENDING);
        versions.add(version);
        if (marker != null) {
            byMarker.put(marker, version.index());
        }
        return version;
    }

    /** The server has the state by {@code now}. */
    synchronized void applied(Version proposed, long now) {
        versions.set(proposed.index(), proposed.applied(now));
    }

    /** The write did not happen. */
    synchronized void refused(Version proposed) {
        versions.set(proposed.index(), proposed.refused());
    }

    /** The state with that payload; null if none was ever written. */
    synchronized @Nullable Version withMarker(String marker) {
        Integer index = byMarker.get(marker);
        return index == null ? null : versions.get(index);
    }

    /** The latest state that is known to have been the server's. */
    synchronized Version current() {
        for (int i = versions.size() - 1; ; i--) {
            if (versions.get(i).result() == Version.WriteResult.APPLIED) {
                return versions.get(i);
            }
        }
    }

    /**
     * From when on the server certainly no longer had {@code version}; {@link Version#UNKNOWN} if it may still have it.
     */
    synchronized long goneBy(Version version) {
        for (Version later : versions.subList(version.index() + 1, versions.size())) {
            if (later.result() != Version.WriteResult.REFUSED) {
                return later.ended();
            }
        }
        return Version.UNKNOWN;
    }

    /**
     * The first absence, after the state of that index, that the server may have had at some time
     * between the two; -1 if there is none.
     */
    synchronized int absence(long from, long to, int afterIndex) {
        for (Version version : versions.subList(afterIndex + 1, versions.size())) {
            if (version.isAbsence()
                    && version.result() != Version.WriteResult.REFUSED
                    && version.began() <= to
                    && goneBy(version) >= from) {
                return version.index();
            }
        }
        return -1;
    }

    /**
     * From when on the object was certainly no longer in the latest of its absences; {@link
     * Version#UNKNOWN} if it may be.
     */
    synchronized long lastAbsenceGoneBy() {
        long latest = 0;
        for (Version version : versions) {
            if (version.isAbsence() && version.result() != Version.WriteResult.REFUSED) {
                latest = goneBy(version);
            }
        }
        return latest;
    }
}
