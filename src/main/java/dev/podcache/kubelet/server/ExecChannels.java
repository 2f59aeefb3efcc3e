package dev.podcache.kubelet.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The messages of the subprotocols {@code v4.channel.k8s.io} and {@code v5.channel.k8s.io} for a command, or for a container itself. In v5, a message on channel 255 closes the channel that its second byte names.
 */
final class ExecChannels {

    static final int STDIN = 0;
    static final int STDOUT = 1;
    static final int STDERR = 2;
    static final int STATUS = 3;
    static final int RESIZE = 4;
    static final int CLOSE = 255;

    private static final ObjectMapper JSON = new ObjectMapper();

    private ExecChannels() {}

    /** Returns the empty message that tells the client that the call has begun, on the first output it has. */
    static byte[] greeting(ExecRequest.Streams streams) {
        return new byte[] {(byte) (streams.stdout() ? STDOUT : streams.stderr() ? STDERR : STATUS)};
    }

    /** Returns the status of a call that has ended: of a command with its exit code. */
    static byte[] ended(ExecRequest.ExecKind kind, int code) {
        ObjectNode status = JSON.createObjectNode();
        status.putObject("metadata");
        if (code == 0 || kind == ExecRequest.ExecKind.ATTACH) {
            return status(status.put("status", "Success"));
        }
        status.put("status", "Failure")
                .put("message", "command terminated with non-zero exit code: exit code " + code)
                .put("reason", "NonZeroExitCode");
        status.putObject("details")
                .putArray("causes")
                .addObject()
                .put("reason", "ExitCode")
                .put("message", Integer.toString(code));
        return status(status);
    }

    /** Returns the status of a call that has failed. */
    static byte[] failed(ExecRequest.ExecKind kind, String reason) {
        String message = kind == ExecRequest.ExecKind.EXEC
                ? "error executing command in container: " + reason
                : "error attaching to container: " + reason;
        ObjectNode status = JSON.createObjectNode();
        status.putObject("metadata");
        status.put("status", "Failure")
                .put("message", "Internal error occurred: " + message)
                .put("reason", "InternalError");
        status.putObject("details").putArray("causes").addObject().put("message", message);
        return status(status.put("code", 500));
    }

    private static byte[] status(ObjectNode status) {
        byte[] json = status.toString().getBytes(StandardCharsets.UTF_8);
        return ChannelFrames.message(STATUS, json, json.length);
    }

    /**
     * Passes a message of the client on. Ignores messages that mean nothing. May block.
     *
     * @throws IOException if the command or container no longer reads
     */
    static void deliver(byte[] message, ExecRequest request, ContainerProcess process) throws IOException {
        if (message.length == 0) {
            return;
        }
        int channel = ChannelFrames.channel(message);
        if (channel == STDIN && request.streams().stdin()) {
            OutputStream stdin = process.stdin();
            stdin.write(message, 1, message.length - 1);
            stdin.flush();
        } else if (channel == RESIZE && request.streams().tty()) {
            resize(message, process);
        } else if (channel == CLOSE
                && request.closeSignals()
                && request.streams().stdin()
                && message.length > 1
                && message[1] == STDIN) {
            process.stdin().close();
        }
    }

    private static void resize(byte[] message, ContainerProcess process) throws IOException {
        JsonNode size = JSON.readTree(message, 1, message.length - 1);
        int columns = size.path("Width").asInt();
        int rows = size.path("Height").asInt();
        if (columns > 0 && rows > 0) {
            process.resize(columns, rows);
        }
    }
}
