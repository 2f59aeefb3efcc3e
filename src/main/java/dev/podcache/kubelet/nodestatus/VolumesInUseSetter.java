package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Sets the sorted names of the volumes in use. Keeps the reported ones until the names are known. */
final class VolumesInUseSetter implements NodeStatusSetter {

    private final Supplier<Optional<Set<String>>> names;

    VolumesInUseSetter(Supplier<Optional<Set<String>>> names) {
        this.names = names;
    }

    @Override
    public void set(Node node, Instant now) {
        names.get()
                .ifPresent(known -> node.getStatus()
                        .setVolumesInUse(new ArrayList<>(known.stream().sorted().toList())));
    }
}
