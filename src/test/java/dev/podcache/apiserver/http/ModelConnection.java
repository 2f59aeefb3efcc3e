package dev.podcache.apiserver.http;

import dev.podcache.time.Timekeeper;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a simulated node, which is dialled when a request needs it, as a {@link ConnectionPool} does it; with
 * a real {@link DialGate} or without one. For one thread.
 */
public final class ModelConnection {

    private final Consumer<Consumer<@Nullable Throwable>> dial;
    private final @Nullable DialGate gate;
    private final List<ModelRequest> waiting = new ArrayList<>();
    private boolean opening;
    private boolean open;

    private record ModelRequest(Runnable send, Consumer<Throwable> failed) {}

    private ModelConnection(Consumer<Consumer<@Nullable Throwable>> dial, @Nullable DialGate gate) {
        this.dial = dial;
        this.gate = gate;
        if (gate != null) {
            gate.observe(this::plan);
        }
    }

    /**
     * Returns one for watches or requests.
     *
     * @param dial connects, and says later that it did (null) or why not
     * @param random uniform in [0, 1)
     */
    public static ModelConnection gated(
            Consumer<Consumer<@Nullable Throwable>> dial, Timekeeper timekeeper, DoubleSupplier random) {
        return new ModelConnection(dial, new DialGate(timekeeper, random));
    }

    /** Returns one for heartbeats, which dial whenever there is something to send. */
    public static ModelConnection ofHeartbeats(Consumer<Consumer<@Nullable Throwable>> dial) {
        return new ModelConnection(dial, null);
    }

    /** Sends once the connection is open. */
    public void send(Runnable send, Consumer<Throwable> failed) {
        if (open) {
            send.run();
        } else {
            waiting.add(new ModelRequest(send, failed));
            plan();
        }
    }

    /** The server closed the connection. */
    public void lost() {
        open = false;
    }

    private void plan() {
        if (open || opening || waiting.isEmpty()) {
            return;
        }
        Throwable unreachable = gate == null ? null : gate.tryEnter(this);
        if (unreachable == null) {
            opening = true;
            dial.accept(this::dialled);
        } else {
            take().forEach(request -> request.failed.accept(unreachable));
        }
    }

    private void dialled(@Nullable Throwable failure) {
        opening = false;
        open = failure == null;
        List<ModelRequest> requests = take();
        if (failure == null) {
            if (gate != null) {
                gate.reached();
            }
            requests.forEach(request -> request.send.run());
        } else {
            if (gate != null) {
                gate.failed(this, failure);
            }
            requests.forEach(request -> request.failed.accept(failure));
        }
    }

    private List<ModelRequest> take() {
        List<ModelRequest> taken = List.copyOf(waiting);
        waiting.clear();
        return taken;
    }
}
