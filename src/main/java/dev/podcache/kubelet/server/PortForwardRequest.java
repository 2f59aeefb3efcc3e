package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.PodPortForward;
import dev.podcache.object.PodKey;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/**
 * Ports of a pod that a client wants to connect to. Each has two channels: an even one for the data of both directions,
 * and the next one, on which the client gets an error. The first message of each is the number of the port. Immutable.
 *
 * @param ports from 1 to 65535, in the order of their channels
 */
record PortForwardRequest(PodPortForward runtime, PodKey pod, List<Integer> ports, String subprotocol)
        implements WebSocketCall {

    /** Connects to the ports. Runs until all connections have ended. */
    @Override
    public void run(WebSocketSession session) throws InterruptedException {
        List<ForwardedPort> forwarded = IntStream.range(0, ports.size())
                .mapToObj(index -> new ForwardedPort(this, ports.get(index), 2 * index, session))
                .toList();
        // before any data, because clients skip the first messages by their number
        forwarded.forEach(ForwardedPort::announce);
        CompletableFuture<?> ended = CompletableFuture.allOf(
                forwarded.stream().map(port -> session.run(port::run)).toArray(CompletableFuture<?>[]::new));
        session.receive(message -> received(message, forwarded));
        while (!session.await(ended)) {
            // idle for hours, which is no reason to end
        }
    }

    /** Passes a message on. Ignores messages on channels that are only ours to write, or that do not exist. */
    private static CompletableFuture<?> received(byte[] message, List<ForwardedPort> forwarded) {
        int channel = message.length == 0 ? 1 : ChannelFrames.channel(message);
        return channel % 2 == 0 && channel / 2 < forwarded.size()
                ? forwarded.get(channel / 2).write(message)
                : CompletableFuture.completedFuture(message);
    }

    @Override
    public String toString() {
        return "forwarding of ports " + ports + " of pod " + pod;
    }
}
