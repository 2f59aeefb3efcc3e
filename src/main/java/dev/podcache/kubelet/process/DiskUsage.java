package dev.podcache.kubelet.process;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * What a directory uses of its file system: the size of the files in it, and the number of files and directories. Immutable.
 */
record DiskUsage(long bytes, long inodes) {

    /** Measures a directory without following links. Files that are deleted meanwhile, or are private, are left out. */
    static DiskUsage of(Path directory) throws IOException {
        Sum sum = new Sum();
        Files.walkFileTree(directory, sum);
        return new DiskUsage(sum.bytes, sum.inodes);
    }

    private static final class Sum extends SimpleFileVisitor<Path> {

        private long bytes;
        private long inodes;

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            inodes++;
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes += attributes.size();
            inodes++;
            return FileVisitResult.CONTINUE;
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
