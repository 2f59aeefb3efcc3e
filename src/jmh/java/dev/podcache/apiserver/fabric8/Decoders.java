package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** Hands out what benchmarks of other packages decode with. */
public final class Decoders {

    private Decoders() {}

    /** The decoder that {@link Fabric8ApiServer} uses. */
    public static <T extends HasMetadata> ObjectDecoder<T> of(
            ObjectKind<T> kind, KubernetesSerialization serialization) {
        return new Fabric8ObjectDecoder<>(kind, serialization);
    }
}
