package dev.podcache.kubelet.process;

import dev.podcache.kubelet.podconfig.ContainerFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a container says about its end: the end of the file at its {@code terminationMessagePath}, or with the policy {@code
 * FallbackToLogsOnError} the end of its output, if the file is empty and the container failed. Follows {@code
 * getTerminationMessage} of {@code pkg/kubelet/kuberuntime}. Pure functions of the file system.
 *
 * <p>The first call after the end keeps the message beside the container's record, because its root and output are
 * deleted when it is started again.
 */
final class TerminationMessage {

    private static final Logger log = LoggerFactory.getLogger(TerminationMessage.class);

    /** As upstream: of the file, of the output in bytes, and of the output in lines. */
    private static final int LONGEST = 4096;

    private static final int LONGEST_OUTPUT = 2048;
    private static final int MOST_LINES = 80;

    private static final String KEPT = "message";

    private TerminationMessage() {}

    /**
     * Creates the empty file, unless its path leads through a mount or above the root: then there is no message.
     *
     * @param path as the container sees it
     */
    static void prepare(Path root, String path) throws IOException {
        Optional<Path> file = inside(root, path);
        if (file.isPresent() && !Files.exists(file.get(), LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(Objects.requireNonNull(file.get().getParent()));
            Files.createFile(file.get());
        }
    }

    /** Returns the file below the root; empty if a link is on the way, such as one that a container has put there. */
    private static Optional<Path> inside(Path root, String path) {
        Path file = Path.of(root + "/" + path).normalize();
        if (!file.startsWith(root) || file.equals(root)) {
            return Optional.empty();
        }
        for (Path parent = file; !parent.equals(root); parent = Objects.requireNonNull(parent.getParent())) {
            if (Files.isSymbolicLink(parent)) {
                return Optional.empty();
            }
        }
        return Optional.of(file);
    }

    /**
     * Returns the message of a container that has ended; "" if it left none.
     *
     * @param directory of the instance
     */
    static String of(Path directory, ContainerRecord record, int exitCode) throws IOException {
        Path kept = directory.resolve(KEPT);
        try {
            return new String(Files.readAllBytes(kept), StandardCharsets.UTF_8);
        } catch (NoSuchFileException first) {
            String message = read(directory, record, exitCode);
            keep(kept, message);
            return message;
        }
    }

    private static void keep(Path kept, String message) {
        try {
            Path unfinished = Files.createTempFile(kept.getParent(), KEPT, ".new");
            Files.writeString(unfinished, message);
            Files.move(unfinished, kept, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            log.debug("a termination message was not kept: the disk is full, or the container is started again", e);
        }
    }

    private static String read(Path directory, ContainerRecord record, int exitCode) throws IOException {
        Optional<Path> file = inside(ContainerInstance.root(directory), record.messagePath());
        String message = file.isPresent() ? end(ContainerInstance.root(directory), file.get()) : "";
        return message.isEmpty() && exitCode != 0 && record.messageFromOutput() ? endOfOutput(directory) : message;
    }

    private static String end(Path root, Path file) throws IOException {
        try {
            return new String(ContainerFile.end(root, file, LONGEST), StandardCharsets.UTF_8);
        } catch (FileSystemException e) {
            // the container decides what is there, and its pod must have a status all the same
            return "";
        }
    }

    private static String endOfOutput(Path directory) throws IOException {
        Deque<ByteArrayOutputStream> lines = new ArrayDeque<>();
        try (OutputFiles output = new OutputFiles(directory)) {
            for (Optional<OutputLine> piece = output.next(); piece.isPresent(); piece = output.next()) {
                if (piece.get().first()) {
                    if (lines.size() == MOST_LINES) {
                        lines.remove();
                    }
                    lines.add(new ByteArrayOutputStream());
                }
                ByteArrayOutputStream line = lines.getLast();
                if (line.size() > LONGEST_OUTPUT) {
                    // only the end of a line can be in the message
                    byte[] all = line.toByteArray();
                    line.reset();
                    line.write(all, all.length - LONGEST_OUTPUT, LONGEST_OUTPUT);
                }
                line.writeBytes(piece.get().shown(false));
            }
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        lines.forEach(line -> all.writeBytes(line.toByteArray()));
        byte[] bytes = all.toByteArray();
        int from = Math.max(0, bytes.length - LONGEST_OUTPUT);
        return new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8);
    }
}
