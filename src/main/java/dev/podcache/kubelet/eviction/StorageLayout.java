package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;

/**
 * On which file systems images, the containers' writable files and the rest of the pods are. Follows {@code
 * buildSignalToRankFunc} and {@code buildSignalToNodeReclaimFuncs} of the kubelet's {@code eviction/helpers.go}.
 */
enum StorageLayout {

    /** All of them are on one file system. */
    SHARED(StoragePart.ALL, StoragePart.ALL, Cleanup.ALL, Cleanup.ALL),

    /** Images and the containers' writable files are on a file system of their own. */
    OWN_IMAGES(
            Sets.immutableEnumSet(StoragePart.LOGS, StoragePart.VOLUMES),
            Sets.immutableEnumSet(StoragePart.ROOT),
            Cleanup.NOTHING,
            Cleanup.ALL),

    /** Only images are on a file system of their own; the containers' writable files are where logs and volumes are. */
    SPLIT(
            StoragePart.ALL,
            ImmutableSet.of(),
            Sets.immutableEnumSet(Cleanup.CONTAINERS),
            Sets.immutableEnumSet(Cleanup.IMAGES));

    /** What a pod uses of a disk. */
    enum StoragePart {
        /** The containers' writable files. */
        ROOT,
        LOGS,
        /** Volumes on this machine's disks. */
        VOLUMES;

        static final ImmutableSet<StoragePart> ALL = Sets.immutableEnumSet(ROOT, LOGS, VOLUMES);
    }

    /** What a node can delete before it evicts pods. */
    enum Cleanup {
        CONTAINERS,
        IMAGES;

        static final ImmutableSet<Cleanup> ALL = Sets.immutableEnumSet(CONTAINERS, IMAGES);
        static final ImmutableSet<Cleanup> NOTHING = ImmutableSet.of();
    }

    private final ImmutableSet<StoragePart> onNodeFs;
    private final ImmutableSet<StoragePart> onImageFs;
    private final ImmutableSet<Cleanup> cleanupOfNodeFs;
    private final ImmutableSet<Cleanup> cleanupOfImageFs;

    StorageLayout(
            ImmutableSet<StoragePart> onNodeFs,
            ImmutableSet<StoragePart> onImageFs,
            ImmutableSet<Cleanup> cleanupOfNodeFs,
            ImmutableSet<Cleanup> cleanupOfImageFs) {
        this.onNodeFs = onNodeFs;
        this.onImageFs = onImageFs;
        this.cleanupOfNodeFs = cleanupOfNodeFs;
        this.cleanupOfImageFs = cleanupOfImageFs;
    }

    /** Returns which parts of a pod are on the file system of {@code signal}; none for memory and process ids. */
    ImmutableSet<StoragePart> partsOf(EvictionSignal signal) {
        return switch (configured(signal)) {
            case NODE_FS_AVAILABLE, NODE_FS_INODES_FREE -> onNodeFs;
            case IMAGE_FS_AVAILABLE, IMAGE_FS_INODES_FREE -> onImageFs;
            default -> ImmutableSet.of();
        };
    }

    /** Returns what to delete for {@code signal} before pods are evicted. */
    ImmutableSet<Cleanup> cleanupOf(EvictionSignal signal) {
        return switch (configured(signal)) {
            case NODE_FS_AVAILABLE, NODE_FS_INODES_FREE -> cleanupOfNodeFs;
            case IMAGE_FS_AVAILABLE, IMAGE_FS_INODES_FREE -> cleanupOfImageFs;
            default -> Cleanup.NOTHING;
        };
    }

    /** Returns the signal whose thresholds {@code signal} has: for the containers' file system that of another one. */
    EvictionSignal configured(EvictionSignal signal) {
        return switch (signal) {
            case CONTAINER_FS_AVAILABLE ->
                this == OWN_IMAGES ? EvictionSignal.IMAGE_FS_AVAILABLE : EvictionSignal.NODE_FS_AVAILABLE;
            case CONTAINER_FS_INODES_FREE ->
                this == OWN_IMAGES ? EvictionSignal.IMAGE_FS_INODES_FREE : EvictionSignal.NODE_FS_INODES_FREE;
            default -> signal;
        };
    }

    /** Returns whether the containers' writable files count as the pod's use of the node's file system. */
    boolean rootOnNodeFs() {
        return onNodeFs.contains(StoragePart.ROOT);
    }
}
