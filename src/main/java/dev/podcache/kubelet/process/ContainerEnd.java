package dev.podcache.kubelet.process;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a container ended: the content of its file {@code exit}, or the target of that link. Immutable.
 *
 * @param exitCode the exit code, or 128 plus the number of the signal that killed the command
 * @param known false if the supervisor was killed, too, so that nothing recorded the exit code
 */
record ContainerEnd(int exitCode, Instant time, boolean known) {

    private static final Logger log = LoggerFactory.getLogger(ContainerEnd.class);
    private static final String FILE = "exit";
    private static final String UNKNOWN = " unknown";
    private static final Pattern LINE = Pattern.compile("(\\d{1,3}) (\\d{1,15})(" + UNKNOWN + ")?");

    /** The exit code of a container that was killed: 128 + SIGKILL. */
    private static final int KILLED = 137;

    /** Returns the recorded end; empty if there is none. */
    static Optional<ContainerEnd> read(Path container) throws IOException {
        try {
            Path file = container.resolve(FILE);
            String text =
                    Files.isSymbolicLink(file) ? Files.readSymbolicLink(file).toString() : Files.readString(file);
            Matcher exit = LINE.matcher(text.trim());
            if (!exit.matches()) {
                // empty after a loss of power
                Instant written = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)
                        .toInstant();
                return Optional.of(new ContainerEnd(KILLED, written, false));
            }
            return Optional.of(new ContainerEnd(
                    Integer.parseInt(exit.group(1)),
                    OutputLine.time(Long.parseLong(exit.group(2))),
                    exit.group(3) == null));
        } catch (NoSuchFileException none) {
            return Optional.empty();
        }
    }

    /**
     * Records that a container ended in an unknown way, unless its end is recorded. Returns the recorded end; the
     * unknown one if it could not be recorded.
     *
     * @param now the time of the end, because the true time is not known
     */
    static ContainerEnd unknown(Path container, Instant now) throws IOException {
        ContainerEnd unknown = new ContainerEnd(KILLED, now, false);
        try {
            Path file = Files.createTempFile(container, FILE, ".new");
            Files.writeString(file, KILLED + " " + OutputLine.hundredths(now) + UNKNOWN + "\n");
            try {
                Files.createLink(container.resolve(FILE), file);
            } finally {
                Files.delete(file);
            }
        } catch (FileAlreadyExistsException recorded) {
            return read(container).orElse(unknown);
        } catch (IOException e) {
            log.debug(
                    "the end of {} was not recorded: the disk is full, or the container is started again",
                    container,
                    e);
        }
        return unknown;
    }
}
