package dev.podcache.kubelet.podconfig;

import com.google.common.base.Splitter;
import com.google.common.collect.Lists;
import dev.podcache.kubelet.runtime.ByteText;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.FileKeySelector;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The variables of a container that come from files of its pod's volumes ({@code fileKeyRef}). No message contains anything of a
 * file. Thread-safe.
 *
 * <p>Follows {@code makeEnvironmentVariables} of the kubelet's {@code kubelet_pods.go}: as there, a variable with an empty value
 * is missing. If it is optional, the file may be missing too, as the field is documented.
 */
record FileVariables(LocalVolumes volumes, Pod pod, ConfigTarget target) {

    /** The largest file that is read, in bytes. */
    static final int LARGEST = 64 << 10;

    /** As Linux allows on one path. */
    private static final int MOST_LINKS = 40;

    private static final String OUTSIDE = "its path leads out of the volume";

    private static final Splitter SLASHES = Splitter.on('/').omitEmptyStrings();

    /**
     * Returns the value of a variable; null if it is optional and there is none. Blocks while it reads the file, as
     * {@link ContainerFile#open} says.
     *
     * @throws PodConfigException if there is none, or the file cannot be read
     */
    @Nullable
    String value(FileKeySelector selector) {
        String volume = Nullables.orEmpty(selector.getVolumeName());
        String path = Nullables.orEmpty(selector.getPath());
        String key = Nullables.orEmpty(selector.getKey());
        boolean optional = Boolean.TRUE.equals(selector.getOptional());
        Path directory = directory(volume);
        String what = "env file " + Quoted.value(path) + " of volume " + Quoted.value(volume);
        @Nullable String value;
        try {
            value = EnvFile.value(ByteText.of(read(directory, path)), key);
        } catch (NoSuchFileException missing) {
            if (optional) {
                return null;
            }
            throw target.failure("couldn't parse " + what + ": there is no such file");
        } catch (InvalidPathException e) {
            throw target.failure("couldn't parse " + what + ": its path is not one of this machine");
        } catch (IOException e) {
            throw target.failure("couldn't parse " + what + ": " + text(e));
        }
        if (value != null && !value.isEmpty()) {
            return value;
        }
        if (optional) {
            return null;
        }
        throw target.failure("environment variable key " + Quoted.value(key) + " not found in " + what);
    }

    private Path directory(String name) {
        Volume volume = Nullables.orEmpty(pod.getSpec().getVolumes()).stream()
                .filter(each -> name.equals(each.getName()))
                .findFirst()
                .orElseThrow(() ->
                        target.failure("cannot find the volume " + Quoted.value(name) + " referenced by FileKeyRef"));
        if (!VolumeTypes.of(volume).equals("emptyDir")) {
            throw target.failure("volume " + Quoted.value(name) + " referenced by FileKeyRef must be of type emptyDir");
        }
        try {
            return volumes.volume(pod, name);
        } catch (IOException e) {
            throw target.failure("failed to get host path for volume " + Quoted.value(name) + ": " + text(e), e);
        }
    }

    /** The message of a failed call to the file system is often only a path of the machine. */
    private static @Nullable String text(IOException e) {
        if (!(e instanceof FileSystemException failed)) {
            return e.getMessage();
        }
        String reason = failed.getReason();
        return failed.getClass().getSimpleName() + (reason == null ? "" : ": " + reason);
    }

    /**
     * Reads a file of a volume that containers may change meanwhile.
     *
     * @throws NoSuchFileException if there is no such file
     */
    private static byte[] read(Path volume, String path) throws IOException {
        Deque<String> left = new ArrayDeque<>(SLASHES.splitToList(path));
        if (left.contains("..")) {
            throw new IOException("its path must not contain '..'");
        }
        try (Walk walk = new Walk(volume.toRealPath(), left)) {
            return walk.read();
        }
    }

    /**
     * A walk through a volume, from directory to directory by their descriptors, as in {@link SubPath}. Follows links by their
     * text, within the volume. So no file outside of it is read, and no message tells what is there. For one use.
     */
    private static final class Walk implements AutoCloseable {

        private final Path root;
        private final Deque<String> left;
        private Path at; // without links
        private SecureDirectoryStream<Path> opened; // the directory at `at`
        private int links;

        Walk(Path root, Deque<String> left) throws IOException {
            this.root = root;
            this.left = left;
            this.at = root;
            this.opened = Removal.open(root);
        }

        byte[] read() throws IOException {
            while (!left.isEmpty()) {
                String step = left.pop();
                if (step.equals("..")) {
                    if (at.equals(root)) {
                        throw new IOException(OUTSIDE);
                    }
                    goTo(Objects.requireNonNull(at.getParent()));
                } else if (!step.equals(".")) {
                    Path name = root.getFileSystem().getPath(step);
                    BasicFileAttributes found = opened.getFileAttributeView(
                                    name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                            .readAttributes();
                    if (found.isSymbolicLink()) {
                        follow(name);
                    } else if (found.isDirectory()) {
                        enter(name);
                    } else if (!left.isEmpty()) {
                        throw new IOException("a part of its path is no folder");
                    } else if (found.isRegularFile()) {
                        return content(opened, name);
                    } else {
                        break;
                    }
                }
            }
            throw new IOException("it is no regular file");
        }

        private void enter(Path name) throws IOException {
            SecureDirectoryStream<Path> child = Removal.open(opened, name);
            opened.close();
            opened = child;
            at = at.resolve(name);
        }

        private void goTo(Path directory) throws IOException {
            SecureDirectoryStream<Path> there = SubPath.open(root, directory);
            opened.close();
            opened = there;
            at = directory;
        }

        private void follow(Path name) throws IOException {
            links++;
            if (links > MOST_LINKS) {
                throw new IOException("its path has too many links");
            }
            Path link;
            try {
                // Java reads no link by the descriptor of its directory
                link = Files.readSymbolicLink(at.resolve(name));
            } catch (IOException e) {
                // says the same whatever is there, which may be outside if a container has just put a link above it
                throw new IOException("its path changed meanwhile");
            }
            if (link.isAbsolute()) {
                if (!link.normalize().startsWith(root)) {
                    throw new IOException(OUTSIDE);
                }
                link = root.relativize(link.normalize());
                goTo(root);
            }
            Lists.reverse(SLASHES.splitToList(link.toString())).forEach(left::push);
        }

        @Override
        public void close() throws IOException {
            opened.close();
        }
    }

    /** Reads a file that was just seen to be a regular one. A pipe that a container has put in its place has no content. */
    static byte[] content(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        try (SeekableByteChannel file = ContainerFile.open(parent, name)) {
            long size = file.size();
            if (size > LARGEST) {
                throw new IOException("it is larger than " + (LARGEST >> 10) + " KiB");
            }
            ByteBuffer content = ByteBuffer.allocate((int) size);
            while (content.hasRemaining() && file.read(content) >= 0) {
                // until the end
            }
            return Arrays.copyOf(content.array(), content.position());
        }
    }
}
