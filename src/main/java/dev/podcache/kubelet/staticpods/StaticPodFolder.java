package dev.podcache.kubelet.staticpods;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.EventRecorder.EventType;
import dev.podcache.kubelet.events.InvolvedObject;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Quoted;
import dev.podcache.pod.PodOrigin;
import dev.podcache.time.PeriodicLoop;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the static pods of a node from files, again and again. Files in subfolders and files whose names begin with a dot
 * are ignored. A file that is no pod is reported, by a log line and an event of the Node, and its pod counts as gone; the
 * other files are used. A file that cannot be read is reported too, and its pod stays as it is: a full table of open
 * files, or a link into a file system that is away, must not stop pods. Thread-safe; no method blocks.
 *
 * <p>Follows {@code pkg/kubelet/config/file.go}, without inotify. Unlike upstream, it keeps the pod of a file that it
 * cannot read.
 */
public final class StaticPodFolder implements AutoCloseable {

    /* Reads run one at a time, each after the one before, so what they remember needs no lock. */

    /** In bytes. */
    static final int LARGEST_FILE = 10 << 20;

    private static final Logger log = LoggerFactory.getLogger(StaticPodFolder.class);

    private final StaticPodFiles files;
    private final String node;
    private final EventRecorder events;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;
    private final Consumer<List<Pod>> receiver;
    private final PeriodicLoop loop;

    /** The pods of one read, and the files that define them. */
    private static final class Found {
        final List<Pod> pods = new ArrayList<>();
        final Map<Path, Pod> byFile = new HashMap<>();
        private final Map<ObjectKey, Path> byName = new HashMap<>();
        private final Map<String, Path> byUid = new HashMap<>();

        /** Adds a pod. Returns why it cannot be used beside an earlier one; null if it can. */
        @Nullable
        String add(Pod pod, Path file) {
            ObjectMeta metadata = pod.getMetadata();
            ObjectKey name = ObjectKey.of(metadata.getNamespace(), metadata.getName());
            Path other = byName.get(name);
            if (other != null) {
                return "pod " + name + " is already defined by " + Quoted.text(other.toString()) + "; change the name";
            }
            other = byUid.get(metadata.getUid());
            if (other != null) {
                return "metadata.uid " + Quoted.value(metadata.getUid()) + " is already used by "
                        + Quoted.text(other.toString())
                        + "; remove it";
            }
            byName.put(name, file);
            byUid.put(metadata.getUid(), file);
            byFile.put(file, pod);
            pods.add(pod);
            return null;
        }
    }

    private Map<String, Pod> lastPods = Map.of(); // by UID
    private Map<Path, Pod> lastFiles = Map.of();
    private final Map<Path, String> problems = new HashMap<>();

    /**
     * What a folder uses, and does not close.
     *
     * @param node the name of the node
     * @param threads run the reads, each on a thread of its own, because a file system may hang
     */
    public record FolderParts(String node, EventRecorder events, TaskThreads threads, Timekeeper timekeeper) {}

    /**
     * Creates a folder that reads nothing until {@link #start}.
     *
     * @param receiver gets all static pods after each read, first after the first one; none if the path does not exist. A
     *     pod that has not changed is the instance of the read before. Called by one thread at a time, which may
     *     block; what it throws is logged
     */
    public StaticPodFolder(StaticPodFiles files, FolderParts parts, Consumer<List<Pod>> receiver) {
        this.files = files;
        this.node = parts.node();
        this.events = parts.events();
        this.threads = parts.threads();
        this.timekeeper = parts.timekeeper();
        this.receiver = receiver;
        this.loop = new PeriodicLoop(this::check, files.checkFrequency(), timekeeper, () -> 0);
    }

    /** Starts to read. Call it once. Does nothing after {@link #close}. */
    public void start() {
        loop.start();
    }

    /** Starts no further read. A running one continues. Idempotent. */
    @Override
    public void close() {
        loop.close();
    }

    private CompletableFuture<?> check() {
        CompletableFuture<Path> done = new CompletableFuture<>();
        threads.executeNow(() -> {
            try {
                receiver.accept(read());
            } catch (IOException e) {
                report("path", files.path(), "cannot be read (" + reason(e) + "); the static pods stay as they are");
            } catch (RuntimeException | Error e) {
                log.error("reading static pods from {} failed; retrying", files.path(), e);
            } finally {
                done.complete(files.path());
            }
        });
        return done;
    }

    private List<Pod> read() throws IOException {
        Found found = new Found();
        Set<Path> broken = new HashSet<>();
        for (Path file : manifests(broken)) {
            String problem = readFile(file, found);
            if (problem != null) {
                broken.add(file);
                report("file", file, "is not used: " + problem);
            }
        }
        problems.keySet().retainAll(broken);
        Map<String, Pod> byUid = new HashMap<>();
        found.pods.forEach(pod -> byUid.put(pod.getMetadata().getUid(), pod));
        lastPods = byUid;
        lastFiles = found.byFile;
        return List.copyOf(found.pods);
    }

    /** Returns why a file is not used and what happens next; null if it is used or gone. */
    private @Nullable String readFile(Path file, Found found) {
        String problem;
        try {
            return found.add(seen(PodManifest.parse(content(file), file, node)), file);
        } catch (IOException e) {
            if (e instanceof NoSuchFileException && !Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                log.debug("{} was deleted while the folder was read", Quoted.text(file.toString()));
                return null;
            }
            Pod last = lastFiles.get(file);
            String clash = last == null ? null : found.add(last, file);
            return reason(e) + (clash == null ? "; its pod stays as it is" : "; " + clash);
        } catch (StackOverflowError e) {
            problem = "it is nested too deeply";
        } catch (IllegalArgumentException e) {
            problem = String.valueOf(e.getMessage());
        } catch (RuntimeException e) {
            // its message may quote the file
            problem = "it cannot be read as a pod (" + e.getClass().getSimpleName() + ")";
        }
        return problem + "; its pod is stopped until the file is valid";
    }

    /** Returns the files to read, by name; none if the path does not exist. */
    private List<Path> manifests(Set<Path> broken) throws IOException {
        if (Files.isRegularFile(files.path())) {
            return List.of(files.path());
        }
        List<Path> manifests = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(files.path(), entry -> !isHidden(entry))) {
            for (Path entry : entries) {
                if (isManifest(entry)) {
                    manifests.add(entry);
                }
            }
        } catch (NoSuchFileException e) {
            if (Files.exists(files.path(), LinkOption.NOFOLLOW_LINKS)) {
                // a link that cannot be followed
                throw e;
            }
            broken.add(files.path());
            report("path", files.path(), "does not exist; there are no static pods until it does");
        }
        Collections.sort(manifests);
        return manifests;
    }

    /** Returns true if that cannot be told: reading the file then says why. */
    private static boolean isManifest(Path entry) {
        try {
            return Files.readAttributes(entry, BasicFileAttributes.class).isRegularFile();
        } catch (IOException e) {
            return true;
        }
    }

    private static boolean isHidden(Path entry) {
        return entry.getFileName().toString().startsWith(".");
    }

    private static byte[] content(Path file) throws IOException {
        if (Files.size(file) > LARGEST_FILE) {
            throw new IllegalArgumentException("it is larger than " + (LARGEST_FILE >> 20) + " MiB");
        }
        return Files.readAllBytes(file);
    }

    /** Returns the pod of the read before if it has not changed, else the pod with the time at which it was first seen. */
    private Pod seen(Pod pod) {
        Pod last = lastPods.get(pod.getMetadata().getUid());
        String time = last == null
                ? timekeeper.wallTime().toString()
                : last.getMetadata().getAnnotations().get(PodOrigin.SEEN);
        Pod marked = new PodBuilder(pod)
                .editMetadata()
                .addToAnnotations(PodOrigin.SEEN, time)
                .endMetadata()
                .build();
        return last != null && marked.equals(last) ? last : marked;
    }

    /** Reports a problem once, until it is another one. */
    private void report(String what, Path path, String problem) {
        if (!problem.equals(problems.put(path, problem))) {
            String shown = Quoted.text(path.toString());
            log.warn("static pod {} {} {}", what, shown, problem);
            ObjectReference about = InvolvedObject.ofNode(node);
            String message = "static pod " + what + " " + shown + " " + problem;
            events.event(about, EventType.WARNING, "FailedValidation", message);
        }
    }

    private static String reason(IOException e) {
        if (e instanceof AccessDeniedException) {
            return "it may not be read by this user";
        }
        if (e instanceof NotDirectoryException) {
            return "it is neither a folder nor a file";
        }
        if (e instanceof NoSuchFileException) {
            return "it is a link to what does not exist";
        }
        return Quoted.text(String.valueOf(e.getMessage()));
    }
}
