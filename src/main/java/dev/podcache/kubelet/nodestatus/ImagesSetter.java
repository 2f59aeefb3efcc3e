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

    /** Upstream's default of {@code nodeStatusMaxImages}. */
    private static final int MAX_IMAGES = 50;

    /** Upstream's limit on the names of one image, which keeps the status small. */
    private static final int MAX_NAMES = 5;

    /** Of images of one size always the same are shown, in the same order: else the Node would change all the time. */
    private static final Comparator<NodeImage> LARGEST_FIRST = Comparator.comparingLong(NodeImage::sizeBytes)
            .reversed()
            .thenComparing(image -> image.repoDigests().toString())
            .thenComparing(image -> image.repoTags().toString());

    private final Supplier<List<NodeImage>> images;

    ImagesSetter(Supplier<List<NodeImage>> images) {
        this.images = images;
    }

    @Override
    public void set(Node node, Instant now) {
        node.getStatus().setImages(new ArrayList<>());
        node.getStatus().setImages(reported());
    }

    private List<ContainerImage> reported() {
        try {
            return images.get().stream()
                    .sorted(LARGEST_FIRST)
                    .limit(MAX_IMAGES)
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
        ContainerImage reported = new ContainerImage();
        reported.setNames(names);
        // a server leaves 0 out, and what comes back would be another status
        reported.setSizeBytes(image.sizeBytes() == 0 ? null : image.sizeBytes());
        return reported;
    }
}
