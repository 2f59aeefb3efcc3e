package dev.podcache.kubelet.process;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;

/**
 * What a directory uses of its file system: the size of the files in it, and the number of files and directories. A file
 * with several names counts once, as {@code du} counts it. A sparse file counts with its whole size, because Java does not
 * show how many blocks it has. Immutable.
 */
record DiskUsage(long bytes, long inodes) {

    /** Measures a directory without following links. Files that are deleted meanwhile, or are private, are left out. */
    static DiskUsage of(Path directory) throws IOException {
        Sum sum = new Sum();
        Files.walkFileTree(directory, sum);
        return new DiskUsage(sum.bytes, sum.inodes);
    }

    private static final class Sum extends SimpleFileVisitor<Path> {

        private final Set<Object> severalNames = new HashSet<>(); // the inodes of files with more than one name
        private long bytes;
        private long inodes;

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            inodes++;
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (isNew(file, attributes)) {
                bytes += attributes.size();
                inodes++;
            }
            return FileVisitResult.CONTINUE;
        }

        /** Returns whether a file was not counted under another name. */
        private boolean isNew(Path file, BasicFileAttributes attributes) {
            Object inode = attributes.fileKey();
            return inode == null || !hasSeveralNames(file) || severalNames.add(inode);
        }

        private static boolean hasSeveralNames(Path file) {
            try {
                Object names = Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
                return names instanceof Number number && number.longValue() > 1;
            } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
                // deleted meanwhile, or a file system without such numbers
                return false;
            }
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException deletedOrPrivate) {
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, IOException deletedMeanwhile) {
            return FileVisitResult.CONTINUE;
        }
    }
}
