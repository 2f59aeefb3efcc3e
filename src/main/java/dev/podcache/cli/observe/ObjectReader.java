package dev.podcache.cli.observe;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;

/** Reads Secrets and ConfigMaps: the front door, as far as {@link PeriodicReads} needs it. */
@FunctionalInterface
interface ObjectReader {

    /**
     * The object, from the cache where possible; blocks at most for the read timeout.
     *
     * @throws dev.podcache.object.ObjectUnavailableException why there is none
     */
    HasMetadata read(ObjectKind<?> kind, ObjectKey key);
}
