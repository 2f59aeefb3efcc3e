package dev.podcache.kubelet.process;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.podconfig.Removal;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One start of a container, as its directory shows it. Each method reads the files and {@code /proc} anew, so an instance
 * is never out of date. Only its environment is in no file, because it has values of Secrets: the instance has it that the
 * starter returned. It runs as long as its supervisor or its command does: without a supervisor only its exit code is lost.
 * Immutable and thread-safe.
 */
public final class ContainerInstance {

    static final String RECORD = "container.json";
    static final String SUPERVISOR = "supervisor";
    static final String COMMAND = "command";

    private static final String ROOT = "root";

    /** Without its ID, a container can be neither reported nor stopped, and a second one would be started beside it. */
    private static final String UNKNOWN =
            "its container is unknown: what runs of it is killed, and its output and exit code"
                    + " are deleted, now or before it is started again";

    private static final Logger log = LoggerFactory.getLogger(ContainerInstance.class);

    private final String name;
    private final Path directory;
    private final ContainerRecord record;
    private final ImmutableMap<String, String> environment; // never to be logged

    /** Creates an instance whose environment is not known. */
    ContainerInstance(String name, Path directory, ContainerRecord record) {
        this(name, directory, record, Map.of());
    }

    /** Creates an instance whose command was started with these variables. */
    ContainerInstance(String name, Path directory, ContainerRecord record, Map<String, String> environment) {
        this.name = name;
        this.directory = directory;
        this.record = record;
        this.environment = ImmutableMap.copyOf(environment);
    }

    /** Returns the instance of a directory; empty if its start did not succeed. */
    static Optional<ContainerInstance> read(String name, Path directory) throws IOException {
        return JsonFile.read(directory.resolve(RECORD), ContainerRecord.class, UNKNOWN)
                .map(found -> new ContainerInstance(name, directory, found));
    }

    /** Returns the container ID. */
    public String id() {
        return record.id();
    }

    /** Returns the name of the container. */
    public String name() {
        return name;
    }

    /** Returns the hash of the spec that the container was started from: the record has all that is hashed. */
    public String hash() {
        return Launch.hashOf(name, record.image());
    }

    Path directory() {
        return directory;
    }

    Path root() {
        return root(directory);
    }

    /** Returns the root directory of the container in the directory of an instance. */
    static Path root(Path directory) {
        return directory.resolve(ROOT);
    }

    ContainerRecord record() {
        return record;
    }

    /** Returns the variables that the command was started with; none if they are not known, see the class. */
    ImmutableMap<String, String> environment() {
        return environment;
    }

    /** Returns whether the container runs. */
    public boolean isRunning() throws IOException {
        return isAlive(supervisor()) || isAlive(command());
    }

    private static boolean isAlive(Optional<ProcessIdentity> process) {
        return process.isPresent() && process.get().isAlive();
    }

    Optional<ProcessIdentity> supervisor() throws IOException {
        return ProcessIdentity.read(directory.resolve(SUPERVISOR));
    }

    Optional<ProcessIdentity> command() throws IOException {
        return ProcessIdentity.read(directory.resolve(COMMAND));
    }

    /** Returns the status without the last state. */
    public ContainerStatus status(Timekeeper timekeeper) throws IOException {
        return new ContainerStatusBuilder()
                .withName(name)
                .withImage(record.image())
                .withImageID("")
                .withContainerID(record.id())
                .withRestartCount(record.restartCount())
                .withState(state(timekeeper))
                .build();
    }

    /** Returns the state: running, or how it ended. */
    public ContainerState state(Timekeeper timekeeper) throws IOException {
        String startedAt = ApiTime.of(record.startedAt());
        if (isRunning()) {
            return new ContainerStateBuilder()
                    .withNewRunning()
                    .withStartedAt(startedAt)
                    .endRunning()
                    .build();
        }
        ContainerEnd end = end(timekeeper);
        return new ContainerStateBuilder()
                .withNewTerminated()
                .withContainerID(record.id())
                .withExitCode(end.exitCode())
                .withReason(reason(end))
                .withMessage(message(end))
                .withStartedAt(startedAt)
                .withFinishedAt(ApiTime.of(end.time()))
                .endTerminated()
                .build();
    }

    private @Nullable String message(ContainerEnd end) throws IOException {
        if (!end.known()) {
            return "The supervisor of the process was killed; the exit code is not known";
        }
        return Strings.emptyToNull(TerminationMessage.of(directory, record, end.exitCode()));
    }

    private static String reason(ContainerEnd end) {
        if (!end.known()) {
            return "ContainerStatusUnknown";
        }
        return end.exitCode() == 0 ? "Completed" : "Error";
    }

    private ContainerEnd end(Timekeeper timekeeper) throws IOException {
        Optional<ContainerEnd> recorded = ContainerEnd.read(directory);
        return recorded.isPresent() ? recorded.get() : ContainerEnd.unknown(directory, timekeeper.wallTime());
    }

    /** Asks the command's process group to end. */
    void terminate() throws IOException {
        signal(command(), "TERM");
    }

    /**
     * Kills the command's process group. If the command has ended, kills the supervisor: a process that left the group
     * keeps the output open.
     */
    void kill() throws IOException {
        signal(isAlive(command()) ? command() : supervisor(), "KILL");
    }

    private static void signal(Optional<ProcessIdentity> process, String signal) throws IOException {
        if (process.isPresent()) {
            process.get().signalGroup(signal);
        }
    }

    /**
     * Kills what the container's commands left. Call it when the container has ended. Has no effect if the directory has got
     * another instance meanwhile.
     */
    void killLeft() {
        ContainerProcesses.kill(of -> of.equals(root()) && isKept());
    }

    private boolean isKept() {
        try {
            return read(name, directory).filter(kept -> kept.id().equals(id())).isPresent();
        } catch (IOException e) {
            log.debug("what {} left is killed at the next start of the agent", name, e);
            return false;
        }
    }

    void deleteRoot() throws IOException {
        delete(root());
    }

    /** Kills the processes of an instance and deletes its directory, or leaves the rest of it to the next call. */
    static void discard(Path directory) {
        try {
            for (String process : new String[] {SUPERVISOR, COMMAND}) {
                signal(ProcessIdentity.read(directory.resolve(process)), "KILL");
            }
            ContainerProcesses.kill(root(directory)::equals);
            delete(directory);
        } catch (IOException e) {
            log.debug("{} was not deleted; the next start of the container or of the agent deletes it", directory, e);
        }
    }

    private static void delete(Path directory) throws IOException {
        Removal.of(directory);
    }
}
