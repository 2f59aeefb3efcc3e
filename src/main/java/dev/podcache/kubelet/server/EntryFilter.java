package dev.podcache.kubelet.server;

import com.google.common.base.Ascii;
import com.google.common.base.Strings;
import com.google.common.primitives.Ints;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.CacheState;
import dev.podcache.object.Quoted;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Selects entries by the parameters of a request: {@code q}, a part of namespace, name, version or holder; {@code kind};
 * {@code state}; and {@code limit}, the maximum number of entries. Immutable.
 *
 * @param text in lower case; "" for any
 * @param kind "" for any
 * @param state "" for any
 */
record EntryFilter(String text, String kind, String state, int limit) {

    static final int DEFAULT_LIMIT = 1000;
    private static final int MOST = 10_000;

    /**
     * Reads the parameters.
     *
     * @throws RefusedException if the limit is not between 0 and 10,000
     */
    static EntryFilter of(KubeletRequest request) {
        return new EntryFilter(
                Ascii.toLowerCase(parameter(request, "q")).strip(),
                parameter(request, "kind"),
                parameter(request, "state"),
                limit(request.parameter("limit")));
    }

    private static String parameter(KubeletRequest request, String name) {
        return Strings.nullToEmpty(request.parameter(name));
    }

    private static int limit(@Nullable String text) {
        if (text == null) {
            return DEFAULT_LIMIT;
        }
        return Optional.ofNullable(Ints.tryParse(text))
                .filter(limit -> limit >= 0 && limit <= MOST)
                .orElseThrow(() -> new RefusedException(
                        400, "limit must be a number from 0 to " + MOST + ", but is " + Quoted.value(text)));
    }

    boolean matches(ObjectEntry entry) {
        return (kind.isEmpty() || kind.equals(entry.kind().name()))
                && (state.isEmpty() || state.equals(entry.cacheState().name()))
                && (text.isEmpty() || hasText(entry));
    }

    private boolean hasText(ObjectEntry entry) {
        return contains(entry.key().namespace() + "/" + entry.key().name())
                || contains(entry.resourceVersion())
                || entry.referrers().stream().anyMatch(holder -> contains(holder.namespace() + "/" + holder.name()));
    }

    private boolean contains(String whole) {
        return Ascii.toLowerCase(whole).contains(text);
    }

    /** Returns whether an entry comes first if there are more than the limit. */
    static boolean needsAttention(ObjectEntry entry) {
        return entry.lastFailure().isPresent() || entry.cacheState() != CacheState.FRESH;
    }
}
