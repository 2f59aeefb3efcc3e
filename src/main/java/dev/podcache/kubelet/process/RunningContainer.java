package dev.podcache.kubelet.process;

import com.google.common.collect.Comparators;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An instance of a container that runs, whether or not this JVM started it. Thread-safe. */
public final class RunningContainer {

    private static final Logger log = LoggerFactory.getLogger(RunningContainer.class);

    /** How long killed processes may take to end, and the supervisor to keep their last output. */
    private static final Duration KILL_PAUSE = Duration.ofSeconds(5);

    /** The end of a process that another JVM started may be seen earlier in the file system. */
    private static final Duration CHECK_PERIOD = Duration.ofMillis(100);

    private final ContainerInstance instance;
    private final Timekeeper timekeeper;
    private final CompletableFuture<?> ended;
    private final Set<ExecProcess> executed = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean toldOfEnvironment = new AtomicBoolean();

    private RunningContainer(ContainerInstance instance, Timekeeper timekeeper, CompletableFuture<?> ended) {
        this.instance = instance;
        this.timekeeper = timekeeper;
        this.ended = ended;
    }

    /** Returns an instance of a container that may have ended meanwhile. */
    public static RunningContainer of(ContainerInstance instance, Timekeeper timekeeper) throws IOException {
        Optional<ProcessIdentity> command = instance.command();
        CompletableFuture<?> ended = onExit(instance.supervisor()).thenCompose(supervisor -> onExit(command));
        return new RunningContainer(instance, timekeeper, ended);
    }

    private static CompletableFuture<?> onExit(Optional<ProcessIdentity> process) {
        return process.isPresent() ? process.get().onExit() : CompletableFuture.completedFuture(null);
    }

    /** Completes when the container has ended; if another JVM started it, up to 5 s later. */
    public CompletableFuture<?> ended() {
        return ended;
    }

    public ContainerInstance instance() {
        return instance;
    }

    /** Asks the container to end. Does not wait. */
    public void terminate() throws IOException {
        instance.terminate();
    }

    /**
     * Waits until the container has ended. Kills it if it has not ended in time.
     *
     * @param deadline as {@link Timekeeper#nanoTime}
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitEnd(long deadline) throws IOException, InterruptedException {
        long kill = deadline;
        Duration left = Duration.ofNanos(kill - timekeeper.nanoTime());
        while (!timekeeper.await(ended, Comparators.min(left, CHECK_PERIOD)) && instance.isRunning()) {
            if (timekeeper.nanoTime() - kill >= 0) {
                instance.kill();
                kill = timekeeper.nanoTime() + KILL_PAUSE.toNanos();
            }
            left = Duration.ofNanos(kill - timekeeper.nanoTime());
        }
    }

    /**
     * Starts a command with the environment and working directory of the container. It ends with the container, and so does
     * what it leaves behind.
     *
     * @throws IOException if the container does not run or the command cannot be started
     */
    public ContainerProcess exec(List<String> command) throws IOException {
        ExecProcess started =
                ExecProcess.start(instance, command, timekeeper, this::environmentIsUnknown, executed::remove);
        executed.add(started);
        if (started.hasEnded()) {
            executed.remove(started);
        }
        if (!instance.isRunning()) {
            killLeft();
        }
        return started;
    }

    private void environmentIsUnknown() {
        if (!toldOfEnvironment.getAndSet(true)) {
            log.warn(
                    "the environment of container {} is not known: an earlier agent started it, and its command has cleared"
                            + " or overwritten its variables; commands, probes and hooks have PATH only until the"
                            + " container is restarted",
                    instance.name());
        }
    }

    /** Returns whether this knows the environment of the container if {@code other} does. */
    boolean knowsAsMuchAs(ContainerInstance other) {
        return other.environment().isEmpty() || !instance.environment().isEmpty();
    }

    /**
     * Kills the commands of {@link #exec}, and what they and the container's command left. Call it when the container has
     * ended.
     */
    public void killLeft() {
        // first, because it cannot wait for anything
        instance.killLeft();
        executed.forEach(ExecProcess::close);
    }
}
