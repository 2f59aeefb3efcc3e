package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.object.Quoted;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects a command in a container with its client. Threads of its own copy the outputs and await the end, because each
 * of them may block. When the client leaves, the command is killed.
 */
final class ExecSession {

    private static final Logger log = LoggerFactory.getLogger(ExecSession.class);
    private static final int BUFFER = 16 << 10;

    private final KubeletResponse.Upgrade upgrade;
    private final MessageChannel client;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;

    // whoever sets it runs upgrade.release(): the thread at its end, or the close if the thread never began
    private final AtomicBoolean begun = new AtomicBoolean();

    ExecSession(KubeletResponse.Upgrade upgrade, MessageChannel client, TaskThreads threads, Timekeeper timekeeper) {
        this.upgrade = upgrade;
        this.client = client;
        this.threads = threads;
        this.timekeeper = timekeeper;
    }

    /** Starts the command. Call it once. */
    void start() {
        Future<?> running = threads.submit(() -> {
            run();
            return upgrade;
        });
        client.closed().whenComplete((closed, thrown) -> {
            running.cancel(true);
            if (begun.compareAndSet(false, true)) {
                upgrade.release().run();
            }
        });
        if (running.isCancelled()) {
            client.close();
        }
    }

    private void run() {
        if (!begun.compareAndSet(false, true)) {
            return;
        }
        try (ContainerProcess process = upgrade.command().start()) {
            // a runtime that ignores the interrupt still loses its process
            client.closed().whenComplete((closed, thrown) -> onThread(process::close));
            client.send(ExecChannels.greeting(upgrade.command().streams()));
            int code = exitCode(process);
            client.send(ExecChannels.exited(code));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException | Error e) {
            if (!client.closed().isDone()) {
                log.debug("{} failed", upgrade.command(), e);
                client.send(ExecChannels.failed(Quoted.text(String.valueOf(e.getMessage()))));
            }
        } finally {
            client.close();
            upgrade.release().run();
        }
    }

    private int exitCode(ContainerProcess process) throws IOException, InterruptedException {
        ExecRequest.Streams streams = upgrade.command().streams();
        CompletableFuture<?> outputs = CompletableFuture.allOf(
                copy(process.stdout(), ExecChannels.STDOUT, streams.stdout()),
                copy(process.stderr(), ExecChannels.STDERR, streams.stderr()));
        if (!streams.stdin()) {
            process.stdin().close();
        }
        client.receive(message -> received(process, message));
        int code = process.await();
        // what the command wrote comes before its exit code
        timekeeper.await(CompletableFuture.anyOf(outputs, client.closed()), LogTransfer.STALLED);
        return code;
    }

    /** Reads an output to its end, whether the client wants it or not, because a full pipe stops the command. */
    private CompletableFuture<?> copy(InputStream output, int channel, boolean wanted) {
        CompletableFuture<Object> end = new CompletableFuture<>();
        Future<?> copying = threads.submit(() -> {
            try (output) {
                byte[] buffer = new byte[BUFFER];
                for (int length = output.read(buffer); length >= 0; length = output.read(buffer)) {
                    if (wanted && length > 0) {
                        timekeeper.await(
                                client.send(ExecChannels.message(channel, buffer, length)), LogTransfer.STALLED);
                    }
                }
            } catch (IOException e) {
                log.debug("an output of {} ended: {}", upgrade.command(), e.getMessage());
            } finally {
                end.complete(output);
            }
            return output;
        });
        client.closed().whenComplete((closed, thrown) -> copying.cancel(true));
        return end;
    }

    private CompletableFuture<?> received(ContainerProcess process, byte[] message) {
        return onThread(() -> {
            try {
                ExecChannels.deliver(message, upgrade.command(), process);
            } catch (IOException e) {
                log.debug("the input of {} is closed: {}", upgrade.command(), e.getMessage());
            }
        });
    }

    /** Runs a call of the runtime on a thread of its own. */
    private CompletableFuture<?> onThread(Runnable call) {
        CompletableFuture<Object> done = new CompletableFuture<>();
        Future<?> submitted = threads.submit(() -> {
            try {
                call.run();
            } catch (RuntimeException | Error e) {
                log.warn("a call of the runtime about {} failed", upgrade.command(), e);
            } finally {
                done.complete(call);
            }
            return call;
        });
        if (submitted.isCancelled()) {
            done.complete(call);
        }
        return done;
    }
}
