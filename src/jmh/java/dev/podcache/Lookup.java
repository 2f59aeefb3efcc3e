package dev.podcache;

import io.fabric8.kubernetes.api.model.HasMetadata;

/** Finds by namespace and name what is held in memory. */
@FunctionalInterface
interface Lookup {

    HasMetadata find(String namespace, String name);
}
