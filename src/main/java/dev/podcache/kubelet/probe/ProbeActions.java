package dev.podcache.kubelet.probe;

import dev.podcache.kubelet.probe.ProbeExec.CommandResult;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GRPCAction;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.TCPSocketAction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs the action of a probe: HTTP, TCP, gRPC or a command. Limits each try by the timeout of the probe. Repeats a
 * check that could not be run, up to three tries. Thread-safe.
 */
final class ProbeActions implements ProbeCheck {

    // follows runProbe and runProbeWithRetries of pkg/kubelet/prober/prober.go of Kubernetes

    private static final int TRIES = 3;
    private static final int LONGEST_OUTPUT = 10 << 10;

    private final ProbeNetwork network;
    private final ProbeExec exec;
    private final Timekeeper timekeeper;
    private final HttpCheck http;
    private final GrpcCheck grpc;

    ProbeActions(ProbeNetwork network, ProbeExec exec) {
        this.network = network;
        this.exec = exec;
        this.timekeeper = network.timekeeper();
        this.http = new HttpCheck(network);
        this.grpc = new GrpcCheck(network);
    }

    @Override
    public CompletableFuture<ProbeOutcome> run(Probe probe, ProbeTarget target) {
        return run(probe, target, 1);
    }

    private CompletableFuture<ProbeOutcome> run(Probe probe, ProbeTarget target, int tries) {
        CompletableFuture<ProbeOutcome> outcome = once(probe, target);
        return tries == TRIES
                ? outcome
                : outcome.thenComposeAsync(
                        ended -> ended.verdict() == ProbeOutcome.Verdict.ERROR
                                ? run(probe, target, tries + 1)
                                : CompletableFuture.completedFuture(ended),
                        timekeeper.workers());
    }

    /** Starts a try. All that it has opened is closed when the returned future completes. */
    private CompletableFuture<ProbeOutcome> once(Probe probe, ProbeTarget target) {
        CompletableFuture<ProbeOutcome> outcome = new CompletableFuture<>();
        @Nullable Integer seconds = probe.getTimeoutSeconds();
        Duration timeout = Duration.ofSeconds(seconds == null ? 1 : Math.max(1, seconds));
        try {
            Running running = start(probe, target, timeout, outcome);
            Timekeeper.Scheduled deadline = timekeeper.schedule(
                    timeout,
                    () -> timekeeper
                            .workers()
                            .execute(() -> outcome.complete(ProbeOutcome.failure(running.onTimeout))));
            outcome.whenComplete((ended, thrown) -> deadline.cancel());
            running.outcome.whenComplete((ended, thrown) ->
                    outcome.complete(thrown == null ? ended : ProbeOutcome.error(messageOf(thrown))));
        } catch (RuntimeException invalid) {
            outcome.complete(ProbeOutcome.error(messageOf(invalid)));
        }
        return outcome;
    }

    /** A try that has started, and the message if its time passes. */
    private record Running(CompletableFuture<ProbeOutcome> outcome, String onTimeout) {}

    private Running start(Probe probe, ProbeTarget target, Duration timeout, CompletableFuture<?> end) {
        if (probe.getExec() != null) {
            return command(probe.getExec().getCommand(), target, timeout, end);
        }
        @Nullable HTTPGetAction get = probe.getHttpGet();
        if (get != null) {
            HttpProbeRequest request = HttpProbeRequest.of(get, target, network.userAgent());
            return new Running(
                    http.run(request, timeout, end),
                    "Get \"" + request.url()
                            + "\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
        }
        @Nullable TCPSocketAction tcp = probe.getTcpSocket();
        if (tcp != null) {
            ProbeAddress address = new ProbeAddress(target.host(tcp.getHost()), target.port(tcp.getPort()));
            return new Running(
                    network.connect(address, timeout, end)
                            .handle((connected, refused) -> refused == null
                                    ? ProbeOutcome.success("")
                                    : ProbeOutcome.failure(address.dialed(refused))),
                    "dial tcp " + address + ": i/o timeout");
        }
        @Nullable GRPCAction health = probe.getGrpc();
        if (health != null) {
            ProbeAddress address = new ProbeAddress(target.host(null), target.port(new IntOrString(health.getPort())));
            return new Running(
                    grpc.run(address, health.getService(), timeout, end),
                    "timeout: health rpc did not complete within " + timeout.toSeconds() + "s");
        }
        throw new IllegalArgumentException("missing probe handler for " + target.key() + ":"
                + target.container().getName());
    }

    private Running command(List<String> command, ProbeTarget target, Duration timeout, CompletableFuture<?> end) {
        String timedOut =
                "command timed out: \"" + String.join(" ", command) + "\" timed out after " + timeout.toSeconds() + "s";
        CompletableFuture<CommandResult> run =
                exec.exec(target.key(), target.container().getName(), command, timeout);
        end.whenComplete((ended, thrown) -> run.cancel(false));
        CompletableFuture<ProbeOutcome> outcome = run.handle((result, thrown) -> {
            if (thrown != null) {
                return unwrapped(thrown) instanceof TimeoutException
                        ? ProbeOutcome.failure(timedOut)
                        : ProbeOutcome.error(messageOf(thrown));
            }
            String output = result.output();
            String cut = output.length() > LONGEST_OUTPUT ? output.substring(0, LONGEST_OUTPUT) : output;
            return result.exitCode() == 0 ? ProbeOutcome.success(cut) : ProbeOutcome.failure(cut);
        });
        return new Running(outcome, timedOut);
    }

    private static String messageOf(Throwable thrown) {
        Throwable cause = unwrapped(thrown);
        @Nullable String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    private static Throwable unwrapped(Throwable thrown) {
        return thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
    }
}
