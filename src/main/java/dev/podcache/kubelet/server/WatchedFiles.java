package dev.podcache.kubelet.server;

import com.google.common.base.Joiner;
import dev.podcache.time.PeriodicLoop;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files whose content is used, and used again whenever it has changed. They are read every 10 s. Content that cannot be
 * used is reported once, and the content before stays in use. Thread-safe.
 */
final class WatchedFiles implements AutoCloseable {

    static final Duration PERIOD = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(WatchedFiles.class);

    private final List<Path> files;
    private final ContentsReceiver use;
    private final Timekeeper timekeeper;
    private final PeriodicLoop loop;

    // written by start(), and then by one run of the loop at a time, which happens after the run before
    private List<byte[]> contents = List.of();
    private String problem = "";

    /** Receives the contents of the files. */
    @FunctionalInterface
    interface ContentsReceiver {
        void accept(List<byte[]> contents) throws IOException, GeneralSecurityException;
    }

    WatchedFiles(List<Path> files, ContentsReceiver use, Timekeeper timekeeper) {
        this.files = List.copyOf(files);
        this.use = use;
        this.timekeeper = timekeeper;
        this.loop = new PeriodicLoop(this::check, PERIOD, timekeeper, () -> 0);
    }

    /**
     * Reads and uses the files, and starts to watch them. Blocks.
     *
     * @throws IllegalArgumentException if they cannot be used; the message names them
     */
    void start() {
        try {
            contents = read();
            use.accept(contents);
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            throw new IllegalArgumentException("cannot use " + names() + ": " + reason(e), e);
        }
        loop.start();
    }

    private CompletableFuture<?> check() {
        CompletableFuture<Object> done = new CompletableFuture<>();
        timekeeper.blocking().execute(() -> {
            try {
                useIfChanged();
            } catch (RuntimeException | Error e) {
                log.error("checking {} failed; retrying in {} s", names(), PERIOD.toSeconds(), e);
            } finally {
                done.complete(files);
            }
        });
        return done;
    }

    private void useIfChanged() {
        try {
            List<byte[]> now = read();
            if (isEqual(now, contents) && problem.isEmpty()) {
                return;
            }
            use.accept(now);
            contents = now;
            problem = "";
            log.info("using the new content of {}", names());
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            // the files of a pair are replaced one after the other
            @Nullable String reason = reason(e);
            if (!reason.equals(problem)) {
                problem = reason;
                log.warn(
                        "cannot use the new content of {}: {}; the content before stays in use, next check in {} s",
                        names(),
                        reason,
                        PERIOD.toSeconds());
            }
        }
    }

    private List<byte[]> read() throws IOException {
        List<byte[]> read = new ArrayList<>();
        for (Path file : files) {
            read.add(Files.readAllBytes(file));
        }
        return read;
    }

    private static boolean isEqual(List<byte[]> one, List<byte[]> other) {
        for (int i = 0; i < one.size(); i++) {
            if (!Arrays.equals(one.get(i), other.get(i))) {
                return false;
            }
        }
        return true;
    }

    private String names() {
        return Joiner.on(" and ").join(files);
    }

    /** Never contains content of the files, of which one may be a private key. */
    private static String reason(Exception e) {
        if (e instanceof NoSuchFileException missing) {
            return "there is no file " + missing.getFile();
        }
        return e instanceof IOException || e instanceof GeneralSecurityException
                ? String.valueOf(e.getMessage())
                : "not in PEM format";
    }

    @Override
    public void close() {
        loop.close();
    }
}
