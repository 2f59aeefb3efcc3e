package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Sets the images on the node, the largest first, because a scheduler benefits most from knowing those. */
final class ImagesSetter implements NodeStatusSetter {

    static final int UNLIMITED = -1;

    /** Upstream's limit on the names of one image, which keeps the status small. */
    private static final int MAX_NAMES = 5;

    private final Supplier<List<NodeImage>> images;
    private final int max;

    ImagesSetter(Supplier<List<NodeImage>> images, int max) {
        this.images = images;
        this.max = max;
    }

    @Override
    public void set(Node node, Instant now) {
        node.getStatus().setImages(new ArrayList<>());
        node.getStatus().setImages(reported());
    }

    private List<ContainerImage> reported() {
        try {
            return images.get().stream()
                    .sorted(Comparator.comparingLong(NodeImage::sizeBytes).reversed())
                    .limit(max == UNLIMITED ? Long.MAX_VALUE : max)
                    .map(ImagesSetter::reported)
                    .collect(Collectors.toCollection(ArrayList::new));
        } catch (RuntimeException e) {
            throw new IllegalStateException("error getting image list: " + e.getMessage(), e);
        }
    }

    private static ContainerImage reported(NodeImage image) {
        List<String> names = Stream.concat(image.repoDigests().stream(), image.repoTags().stream())
                .limit(MAX_NAMES)
                .collect(Collectors.toCollection(ArrayList::new));
        return new ContainerImage(names, image.sizeBytes());
    }
}
