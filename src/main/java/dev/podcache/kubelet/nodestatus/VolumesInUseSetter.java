package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import java.util.function.Supplier;

/** Sets the names of the volumes in use, in order, once they are known; until then the last reported ones stay. */
final class VolumesInUseSetter implements NodeStatusSetter {

    private final Supplier<Optional<ImmutableSet<String>>> names;

    VolumesInUseSetter(Supplier<Optional<ImmutableSet<String>>> names) {
        this.names = names;
    }

    @Override
    public void set(Node node, Instant now) {
        names.get()
                .ifPresent(known -> node.getStatus()
                        .setVolumesInUse(new ArrayList<>(known.stream().sorted().toList())));
    }
}
