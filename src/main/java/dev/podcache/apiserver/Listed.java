package dev.podcache.apiserver;

import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.Objects;

/**
 * The result of a list.
 *
 * @param items the objects that match; unmodifiable
 * @param resourceVersion the version of the collection, from which a watch can start
 */
public record Listed<T>(List<Fetched<T>> items, String resourceVersion) {

    public Listed {
        items = ImmutableList.copyOf(items);
        Objects.requireNonNull(resourceVersion, "resourceVersion");
    }

    /** Returns the version and the number of objects, never the objects, which may be Secrets. */
    @Override
    public String toString() {
        return "Listed[items=" + items.size() + ", resourceVersion=" + resourceVersion + "]";
    }
}
