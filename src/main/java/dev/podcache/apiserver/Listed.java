package dev.podcache.apiserver;

import com.google.common.collect.ImmutableList;
import java.util.Objects;

/**
 * The result of a list.
 *
 * @param items the objects that match
 * @param resourceVersion the version of the collection, from which a watch may go on
 */
public record Listed<T>(ImmutableList<Fetched<T>> items, String resourceVersion) {

    public Listed {
        Objects.requireNonNull(items, "items");
        Objects.requireNonNull(resourceVersion, "resourceVersion");
    }

    /** The version and the count, never the objects: they may be Secrets. */
    @Override
    public String toString() {
        return "Listed[items=" + items.size() + ", resourceVersion=" + resourceVersion + "]";
    }
}
