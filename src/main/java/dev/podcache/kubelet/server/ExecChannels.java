package dev.podcache.kubelet.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The messages of the subprotocols {@code v4.channel.k8s.io} and {@code v5.channel.k8s.io}. The first byte of each
 * message is its channel. In v5, a message on channel 255 closes the channel that its second byte names.
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

    static byte[] message(int channel, byte[] content, int length) {
        byte[] message = new byte[length + 1];
        message[0] = (byte) channel;
        System.arraycopy(content, 0, message, 1, length);
        return message;
    }

    /** Returns the empty message that tells the client that the command has started, on the first output it has. */
    static byte[] greeting(ExecRequest.Streams streams) {
        return new byte[] {(byte) (streams.stdout() ? STDOUT : streams.stderr() ? STDERR : STATUS)};
    }

    /** Returns the status of a command that has ended. */
    static byte[] exited(int code) {
        ObjectNode status = JSON.createObjectNode();
        status.putObject("metadata");
        if (code == 0) {
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

    /** Returns the status of a command that could not be run. */
    static byte[] failed(String reason) {
        String message = "error executing command in container: " + reason;
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
        return message(STATUS, json, json.length);
    }

    /**
     * Passes a message of the client to the command. Ignores messages that mean nothing. May block.
     *
     * @throws IOException if the command no longer reads
     */
    static void deliver(byte[] message, ExecRequest request, ContainerProcess process) throws IOException {
        if (message.length == 0) {
            return;
        }
        int channel = message[0] & 0xff;
        if (channel == STDIN && request.streams().stdin()) {
            OutputStream stdin = process.stdin();
            stdin.write(message, 1, message.length - 1);
            stdin.flush();
        } else if (channel == RESIZE && request.streams().tty()) {
            resize(message, process);
        } else if (channel == CLOSE && request.closeSignals() && message.length > 1 && message[1] == STDIN) {
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
